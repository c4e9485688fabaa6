package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"commander/internal/run"
)

// kubeCommand asks the API server what a step wants to know and prints the answer. It understands
// what steps need of curl's arguments.
func (r *Run) kubeCommand(ctx context.Context, args []string) error {
	method, path, contentType, body := "", "", "application/json", ""
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if !strings.HasPrefix(word, "-") {
			path = word
			continue
		}
		if len(args) == 0 {
			return run.Misuse(fmt.Errorf("%s needs a value", word))
		}
		value := args[0]
		args = args[1:]
		switch word {
		case "-X", "--request":
			method = value
		case "-d", "--data":
			body = value
		case "-H", "--header":
			name, header, _ := strings.Cut(value, ":")
			if !strings.EqualFold(name, "Content-Type") {
				return run.Misuse(fmt.Errorf("header %s cannot be set", name))
			}
			contentType = strings.TrimSpace(header)
		default:
			return run.Misuse(fmt.Errorf("no option %s", word))
		}
	}
	if path == "" {
		return run.Misuse(errors.New("kube needs a path"))
	}
	if method == "" {
		method = http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
	}
	var answer []byte
	if err := r.kube.Do(ctx, method, path, contentType, []byte(body), &answer); err != nil {
		return err
	}
	if _, err := r.out.Write(answer); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// metadataCommand sets labels or annotations of the Node: key=value sets, key- removes.
func (r *Run) metadataCommand(ctx context.Context, field string, args []string) error {
	values, version := change{}, ""
	for _, a := range args {
		if v, is := strings.CutPrefix(a, "--resource-version="); is {
			version = v
			continue
		}
		key, value, set := strings.Cut(a, "=")
		switch {
		case set:
			values[key] = value
		case strings.HasSuffix(key, "-"):
			values[strings.TrimSuffix(key, "-")] = nil
		default:
			return run.Misuse(fmt.Errorf("%q is neither key=value nor key-", a))
		}
	}
	return r.patchNode(ctx, version, field, values)
}

// printScript prints a script of a group, or nothing if what came is none.
func (r *Run) printScript(ctx context.Context, path string, args []string) error {
	if len(args) != 1 {
		return run.Misuse(errors.New("name the group"))
	}
	var answer struct {
		Data      map[string]string `json:"data"`
		Bootstrap string            `json:"bootstrap"`
	}
	if err := r.kube.Get(ctx, path+args[0], &answer); err != nil {
		return err
	}
	script := answer.Data[scriptFile] + answer.Bootstrap
	if !valid([]byte(script)) {
		return errNoScript
	}
	if _, err := io.WriteString(r.out, script); err != nil {
		return fmt.Errorf("write script: %w", err)
	}
	return nil
}
