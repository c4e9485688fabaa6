package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// Files lets a template read what lies beside it.
type Files struct{ from fs.FS }

// Get is the content of a file, empty if there is none.
func (f Files) Get(name string) string {
	text, err := fs.ReadFile(f.from, strings.TrimPrefix(name, "/"))
	if err != nil {
		return ""
	}
	return string(text)
}

// functions are what templates may call: those of sprig that only look at their arguments, and
// those that Helm adds. Nothing reads the environment of the server.
func functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	for _, leaks := range []string{"env", "expandenv", "getHostByName"} {
		delete(all, leaks)
	}
	maps.Copy(all, template.FuncMap{
		"toYaml": func(v any) string { return text(yaml.Marshal(v)) },
		"toJson": func(v any) string { return text(json.Marshal(v)) },
		"toToml": func(v any) string {
			var b strings.Builder
			if err := toml.NewEncoder(&b).Encode(v); err != nil {
				return ""
			}
			return b.String()
		},
		"fromYaml":      func(s string) map[string]any { return object(s, yamlInto) },
		"fromJson":      func(s string) map[string]any { return object(s, jsonInto) },
		"fromYamlArray": func(s string) []any { return array(s, yamlInto) },
		"fromJsonArray": func(s string) []any { return array(s, jsonInto) },
		"required": func(message string, v any) (any, error) {
			if v == nil || v == "" {
				return nil, errors.New(message)
			}
			return v, nil
		},
		// A word of a shell script, whatever is in it; sprig's own leaves an apostrophe as it is.
		"squote": func(words ...any) string {
			var quoted []string
			for _, word := range words {
				if word != nil {
					quoted = append(quoted, "'"+strings.ReplaceAll(fmt.Sprint(word), "'", `'\''`)+"'")
				}
			}
			return strings.Join(quoted, " ")
		},
		// Part of a line of a here-document: in one whose word is quoted, and in one that is expanded.
		"line":     line,
		"expanded": func(v any) string { return expanded.Replace(line(v)) },
		// Templates are rendered from their context alone.
		"lookup": func(...string) map[string]any { return map[string]any{} },
	})
	return all
}

// line is a value without line breaks, which could end a here-document.
func line(v any) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(fmt.Sprint(v)) }

// expanded keeps a shell from expanding what is in a here-document.
var expanded = strings.NewReplacer(`\`, `\\`, "$", `\$`, "`", "\\`")

// text is empty on an error, as templates of Helm expect.
func text(raw []byte, err error) string {
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(raw), "\n")
}

func yamlInto(s string, into any) error { return yaml.Unmarshal([]byte(s), into) }
func jsonInto(s string, into any) error { return json.Unmarshal([]byte(s), into) }

func object(s string, parse func(string, any) error) map[string]any {
	m := map[string]any{}
	if err := parse(s, &m); err != nil {
		m = map[string]any{"Error": err.Error()}
	}
	return m
}

func array(s string, parse func(string, any) error) []any {
	var a []any
	if err := parse(s, &a); err != nil {
		a = []any{err.Error()}
	}
	return a
}

// execute renders one template. A key of the context that is not there is nothing, as in Helm.
func execute(name, source string, context map[string]any) (string, error) {
	t := template.New(name).Option("missingkey=zero")
	render := func(t *template.Template, context any) (string, error) {
		var b strings.Builder
		if err := t.Execute(&b, context); err != nil {
			return "", err
		}
		return strings.ReplaceAll(b.String(), "<no value>", ""), nil
	}
	t.Funcs(functions()).Funcs(template.FuncMap{
		"include": func(name string, context any) (string, error) {
			found := t.Lookup(name)
			if found == nil {
				return "", fmt.Errorf("no template %q is defined", name)
			}
			return render(found, context)
		},
		"tpl": func(source string, context any) (string, error) {
			inner, err := t.Clone()
			if err != nil {
				return "", err
			}
			if inner, err = inner.New("tpl").Parse(source); err != nil {
				return "", err
			}
			return render(inner, context)
		},
	})
	if _, err := t.Parse(source); err != nil {
		return "", fmt.Errorf("read template %s: %w", name, err)
	}
	out, err := render(t, context)
	if err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out, nil
}
