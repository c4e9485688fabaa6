package render

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Steps are scripts by file name; they run in the order of their names.
type Steps map[string]string

// Names are in the order in which the steps run.
func (s Steps) Names() []string {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// What a step is for: every machine, or nodes of a group only.
const (
	targetAll   = "all"
	targetGroup = "node-group"
)

const suffix = ".tpl"

// templatesOf finds the templates for a target: the common ones, and over them those of the
// cloud's provider, which replace common ones of the same name.
func templatesOf(from fs.FS, provider, target string) (map[string]string, error) {
	dirs := []string{path.Join("bashible/common-steps", target)}
	if provider != "" {
		dirs = append(dirs, path.Join("cloud-providers", provider, "bashible/common-steps", target))
	}
	found := map[string]string{}
	for _, dir := range dirs {
		entries, err := fs.ReadDir(from, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list steps: %w", err)
		}
		for _, e := range entries {
			if e.IsDir() || !strings.HasSuffix(e.Name(), ".sh"+suffix) {
				continue
			}
			text, err := fs.ReadFile(from, path.Join(dir, e.Name()))
			if err != nil {
				return nil, fmt.Errorf("read step: %w", err)
			}
			found[strings.TrimSuffix(e.Name(), suffix)] = string(text)
		}
	}
	return found, nil
}

// renderSteps fails with the first template that cannot be rendered.
func renderSteps(from fs.FS, provider, target string, context map[string]any) (Steps, error) {
	templates, err := templatesOf(from, provider, target)
	if err != nil {
		return nil, err
	}
	steps := make(Steps, len(templates))
	for _, name := range Steps(templates).Names() {
		if steps[name], err = execute(name, templates[name], context); err != nil {
			return nil, err
		}
	}
	return steps, nil
}
