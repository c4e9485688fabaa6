package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"commander/fleet/schema"
	"commander/store"
)

// TemplateVersionBody is what a version is made of.
type TemplateVersionBody struct {
	Comment string
	// ParamsText is the schema of the parameters in YAML, as its author wrote it. It decides;
	// when it is empty it is made of Params, the same schema in JSON.
	ParamsText            string
	Params                json.RawMessage
	ClusterConfiguration  string
	ProviderConfiguration string
	InitConfiguration     string
	ResourceGroups        store.ResourceGroups
}

// BodyOf is what a saved version is made of.
func BodyOf(v store.ClusterTemplateVersion) TemplateVersionBody {
	body := TemplateVersionBody{
		Comment: v.Comment, ParamsText: v.ParamsText, Params: v.Params, ClusterConfiguration: v.ClusterConfiguration,
		ProviderConfiguration: v.ProviderConfiguration, InitConfiguration: v.InitConfiguration, ResourceGroups: v.ResourceGroups,
	}
	if body.ParamsText == "" {
		body.ParamsText = storedText(v.Params)
	}
	return body
}

// storedText writes a schema that was stored without its text. The database keeps no order of
// properties, so they come in the order of the schema's own type.
func storedText(params json.RawMessage) string {
	if parsed, err := schema.Parse(params); err == nil {
		if ordered, err := json.Marshal(parsed); err == nil {
			params = ordered
		}
	}
	text, err := blockYAML(params)
	if err != nil {
		return string(params) // JSON is YAML, if not as pleasant
	}
	return text
}

// blockYAML writes JSON as YAML with one property a line, in the order of the JSON.
func blockYAML(body json.RawMessage) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(body, &document); err != nil {
		return "", err
	}
	if len(document.Content) == 1 && len(document.Content[0].Content) == 0 {
		return "", nil
	}
	plain(&document)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return "", err
	}
	return out.String(), encoder.Close()
}

// plain drops the style that nodes have from JSON; texts that look like something else keep quotes.
func plain(node *yaml.Node) {
	if node.Kind != yaml.ScalarNode {
		node.Style = 0
	} else if node.Tag == "!!str" {
		node.Style = 0
	}
	for _, child := range node.Content {
		plain(child)
	}
}

// lineError is an error in a YAML text. line is 1-based, 0 when unknown.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return e.text }

var yamlErrorLine = regexp.MustCompile(`line (\d+): (.*)`)

func asLineError(err error) *lineError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var several *yaml.TypeError
	if errors.As(err, &several) && len(several.Errors) > 0 {
		text = several.Errors[0]
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if m := yamlErrorLine.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1]) // the pattern has only digits here
		return &lineError{line, m[2]}
	}
	return &lineError{0, text}
}

// paramsJSON reads the YAML of a schema. An empty text is a schema without parameters. starts are
// the lines of its blocks.
func paramsJSON(text string) (params json.RawMessage, starts []int, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, nil, asLineError(err)
	}
	if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
		return json.RawMessage("[]"), nil, nil
	}
	root := document.Content[0]
	if root.Kind != yaml.SequenceNode {
		return nil, nil, &lineError{root.Line, "the parameters must be a list of headers and fields"}
	}
	for _, block := range root.Content {
		starts = append(starts, block.Line)
	}
	var blocks []any
	if err := document.Decode(&blocks); err != nil {
		return nil, starts, asLineError(err)
	}
	for i, block := range blocks {
		if _, err := json.Marshal(block); err != nil {
			return nil, starts, &lineError{starts[i], "keys must be texts, and numbers finite"}
		}
	}
	params, err = json.Marshal(blocks)
	if err != nil {
		return nil, starts, fmt.Errorf("write the parameters as JSON: %w", err)
	}
	return params, starts, nil
}

// prepared completes a body: one kind of line end, and the schema both as text and as JSON. A
// schema that cannot be read is left to be reported by the check.
func (b TemplateVersionBody) prepared() TemplateVersionBody {
	b.Comment = strings.TrimSpace(b.Comment)
	for _, text := range []*string{&b.ParamsText, &b.ClusterConfiguration, &b.ProviderConfiguration, &b.InitConfiguration} {
		*text = oneLineEnd(*text)
	}
	b.ResourceGroups = append(store.ResourceGroups{}, b.ResourceGroups...)
	for i := range b.ResourceGroups {
		g := &b.ResourceGroups[i]
		g.Name, g.Template = strings.TrimSpace(g.Name), oneLineEnd(g.Template)
	}
	if b.ParamsText == "" && len(b.Params) > 0 {
		if text, err := blockYAML(b.Params); err == nil {
			b.ParamsText = text
		} else {
			b.ParamsText = string(b.Params)
		}
	}
	if params, _, err := paramsJSON(b.ParamsText); err == nil {
		b.Params = params
	}
	return b
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func oneLineEnd(text string) string { return lineEnds.Replace(text) }

// same tells whether two prepared bodies would make the same version, comments of versions apart.
func (b TemplateVersionBody) same(other TemplateVersionBody) bool {
	return b.ParamsText == other.ParamsText && b.ClusterConfiguration == other.ClusterConfiguration &&
		b.ProviderConfiguration == other.ProviderConfiguration && b.InitConfiguration == other.InitConfiguration &&
		slices.Equal(b.ResourceGroups, other.ResourceGroups)
}
