package api

import (
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// document is the part of OpenAPI that the contract is checked by.
type document struct {
	Paths      map[string]map[string]any
	Components struct {
		Schemas map[string]described
	}
}

// described is what is said of one kind of object.
type described struct {
	Ref        string      `yaml:"$ref"`
	AllOf      []described `yaml:"allOf"`
	Properties map[string]any
	Enum       []string
	Required   []string
}

func (b *bench) described(t *testing.T) document {
	t.Helper()
	_, body := b.ask(t, "", "GET", "/openapi.yaml", "")
	var d document
	if err := yaml.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// properties are the names of all that a kind of object has.
func (d document) properties(s described) []string {
	if s.Ref != "" {
		return d.properties(d.Components.Schemas[path.Base(s.Ref)])
	}
	names := slices.Collect(maps.Keys(s.Properties))
	for _, part := range s.AllOf {
		names = append(names, d.properties(part)...)
	}
	slices.Sort(names)
	return names
}

// hold fails unless an answer has exactly what the description says.
func (d document) hold(t *testing.T, name string, answer any) {
	t.Helper()
	object, is := answer.(object)
	if !is {
		t.Fatalf("%s: got %v", name, answer)
	}
	if diff := cmp.Diff(d.properties(d.Components.Schemas[name]), slices.Sorted(maps.Keys(object))); diff != "" {
		t.Errorf("%s (-described +answered):\n%s", name, diff)
	}
}
