package runner

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"commander/agents/node/api"
)

// Paths of the API that a configuration comes from.
const (
	bashiblesPath = "/apis/bashible.deckhouse.io/v1alpha1/bashibles/"
	bootstrapPath = "/apis/bashible.deckhouse.io/v1alpha1/bootstrap/"
	bundlesPath   = "/apis/bashible.deckhouse.io/v1alpha1/nodegroupbundles/"
	libraryPath   = "/api/v1/namespaces/" + api.Namespace + "/secrets/bashible-bashbooster"
)

// files is the part of Bashible and NodeGroupBundle that matters here.
type files struct {
	Data map[string]string `json:"data"`
}

// errNoScript keeps the script that works.
var errNoScript = errors.New("what was downloaded is no script; the one on the disk stays")

// selfUpdate fetches the group's newest script. If that differs from the one on the disk it runs
// it, and puts it in its place only after it succeeded; then this run is over.
func (r *Run) selfUpdate(ctx context.Context) (over bool, err error) {
	var newest files
	if err := r.fetch(ctx, bashiblesPath+r.Group, &newest); err != nil {
		return false, err
	}
	script := []byte(newest.Data[scriptFile])
	if !valid(script) {
		return false, errNoScript
	}
	if present, err := os.ReadFile(r.file(scriptFile)); err == nil && string(present) == string(script) {
		return false, nil
	}
	if err := r.write(newScriptFile, script, 0o700); err != nil {
		return false, err
	}
	command := exec.CommandContext(ctx, r.file(newScriptFile), "--no-lock", "--updated", "--max-retries="+strconv.Itoa(r.MaxRetries))
	command.Env = append(os.Environ(), r.environment("")...)
	command.Stdout, command.Stderr = r.out, r.out
	if err := command.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == ExitWaiting {
			return true, ErrWaiting
		}
		return true, fmt.Errorf("run the new script; the old one stays: %w", err)
	}
	if err := os.Rename(r.file(newScriptFile), r.file(scriptFile)); err != nil {
		return true, fmt.Errorf("put the new script in place: %w", err)
	}
	return true, syncDir(r.State)
}

func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("write through %s: %w", name, err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// fetch reads an object, again after a pause if it cannot.
func (r *Run) fetch(ctx context.Context, path string, into any) error {
	for try := 1; ; try++ {
		err := r.kube.Get(ctx, path, into)
		if err == nil {
			return nil
		}
		r.log.Warn("cannot fetch", "path", path, "try", try, "error", err)
		if r.MaxRetries > 0 && try >= r.MaxRetries {
			return errors.Join(errGaveUp, err)
		}
		if err := r.pause(ctx); err != nil {
			return err
		}
	}
}

// fetchSteps replaces library and steps on the disk by the group's.
func (r *Run) fetchSteps(ctx context.Context) error {
	var library, bundle files
	if err := errors.Join(r.fetch(ctx, libraryPath, &library), r.fetch(ctx, bundlesPath+r.Group, &bundle)); err != nil {
		return err
	}
	text, err := base64.StdEncoding.DecodeString(library.Data[libraryFile])
	if err != nil || len(text) == 0 {
		return fmt.Errorf("the library of the steps is empty or unreadable: %w", errors.Join(err, fs.ErrInvalid))
	}
	if err := r.write(libraryFile, text, 0o600); err != nil {
		return err
	}
	dir := r.file(stepsDir)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return fmt.Errorf("clear steps: %w", err)
	}
	for name, step := range bundle.Data {
		if filepath.Base(name) != name || name == "." || name == ".." {
			return fmt.Errorf("step %q: its name leads elsewhere", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(step), 0o600); err != nil {
			return fmt.Errorf("write step: %w", err)
		}
	}
	return nil
}
