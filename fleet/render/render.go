// Package render makes a cluster's configuration from a template: Go templates with the sprig
// functions, then YAML that is read, checked for form and written again in one style.
package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Input is what a rendering may know. Everything in it is stored or derived from what is stored,
// so that the same revision always renders alike.
type Input struct {
	// Variables are parameters by key and the dc_ variables.
	Variables map[string]any
	// Seed and Now stand in for chance and clock in templates.
	Seed [32]byte
	Now  time.Time
	// Budget is shared by the sections of one rendering; nil gives each its own.
	Budget *Budget
	// Written is what the texts that templates made were as normalised YAML; nil remembers none.
	Written map[string]string
}

// Problem tells why a section could not be rendered. Line is 1-based, 0 when unknown.
type Problem struct {
	Kind string // "template" or "yaml"
	Line int
	Text string
}

func (p *Problem) Error() string { return p.Text }

// maxOutput bounds what a template may produce, in bytes.
const maxOutput = 4 << 20

// Section renders one template and returns normalised YAML: documents separated by "---", empty
// ones left out, keys in the author's order, two spaces of indentation.
func Section(name, text string, in Input) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	if in.Budget == nil {
		in.Budget = &Budget{}
	}
	in.Budget.depth, in.Budget.line = 0, 1 // a section that was cut off has left nothing
	found, err := compile(name, text)
	if err != nil {
		return "", err
	}
	linked, err := link(name, found.trees, functions(in, found.used))
	if err != nil {
		return "", templateProblem(name, err)
	}
	var out bytes.Buffer
	if err := linked.Execute(&bounded{w: &out, left: maxOutput}, in.Variables); err != nil {
		problem := templateProblem(name, err)
		if problem.Line == 0 { // it was being written, not called
			problem.Line = in.Budget.line
		}
		return "", problem
	}
	made := strings.ReplaceAll(out.String(), "<no value>", "")
	if same, is := in.Written[made]; is {
		return same, nil
	}
	normal, err := Normalise(made)
	if err == nil && in.Written != nil {
		in.Written[made] = normal
	}
	return normal, err
}

// Normalise reads YAML of any number of documents and writes it in one style.
func Normalise(text string) (string, error) {
	var out bytes.Buffer
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", yamlProblem(err)
		}
		if isEmpty(&document) {
			continue
		}
		if root := document.Content[0]; root.Kind != yaml.MappingNode {
			return "", &Problem{Kind: "yaml", Line: root.Line, Text: "a document must be a mapping of keys to values"}
		}
		// The form alone allows what has no meaning: a key twice, aliases that grow beyond measure.
		var meaning any
		if err := document.Decode(&meaning); err != nil {
			return "", yamlProblem(err)
		}
		if out.Len() > 0 {
			out.WriteString("---\n")
		}
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		if err := encoder.Encode(&document); err != nil {
			return "", yamlProblem(err)
		}
		if err := encoder.Close(); err != nil {
			return "", yamlProblem(err)
		}
	}
}

func isEmpty(document *yaml.Node) bool {
	return len(document.Content) == 0 || document.Content[0].Tag == "!!null"
}

type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, exceeded(fmt.Sprintf("the template produces more than %d MiB", maxOutput>>20))
	}
	return b.w.Write(p)
}
