package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// TextError says what is wrong with the text of a schema, and where.
type TextError struct {
	Line     int    // from 1; 0 when unknown
	Block    int    // from 1; 0 when the text is no list of blocks
	Property string // empty when the block as a whole is wrong
	Reason   string
}

func (e *TextError) Error() string {
	place := ""
	if e.Line > 0 {
		place += fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Block > 0 {
		place += fmt.Sprintf("block %d: ", e.Block)
	}
	return place + e.Reason
}

// maxText bounds the text of a schema, in bytes.
const maxText = 1 << 20

// ParseYAML reads a schema as its author wrote it. An empty text is a schema without blocks. It
// fails with a TextError.
func ParseYAML(text string) (Schema, error) {
	s, _, err := read(text)
	return s, err
}

// read gives the list of blocks as it stands in the text as well; nil when the text is empty.
func read(text string) (Schema, *yaml.Node, error) {
	root, err := readList(text)
	if err != nil || root == nil {
		return nil, nil, err
	}
	blocks := make([]json.RawMessage, len(root.Content))
	for i, node := range root.Content {
		var properties map[string]any
		err := node.Decode(&properties)
		if err != nil {
			at := textError(err)
			at.Block = i + 1
			return nil, root, at
		}
		if properties == nil {
			return nil, root, &TextError{Line: node.Line, Block: i + 1, Reason: "a block is a header or a field, not nothing"}
		}
		if blocks[i], err = json.Marshal(properties); err != nil {
			return nil, root, &TextError{Line: node.Line, Block: i + 1, Reason: "keys must be texts, and numbers finite"}
		}
	}
	body, err := json.Marshal(blocks)
	if err != nil {
		return nil, root, &TextError{Reason: err.Error()}
	}
	s, err := Parse(body)
	var bad *BlockError
	switch {
	case errors.As(err, &bad):
		return nil, root, placed(bad, root.Content[bad.Block-1])
	case err != nil:
		return nil, root, &TextError{Reason: err.Error()}
	}
	return s, root, nil
}

func readList(text string) (*yaml.Node, error) {
	switch {
	case len(text) > maxText:
		return nil, &TextError{Reason: fmt.Sprintf("the text is longer than %d KiB", maxText>>10)}
	case !utf8.ValidString(text):
		return nil, &TextError{Reason: "the text is not UTF-8"}
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, textError(err)
	case len(document.Content) == 0 || document.Content[0].Tag == "!!null":
		return nil, nil
	}
	root := document.Content[0]
	if root.Kind != yaml.SequenceNode {
		return nil, &TextError{Line: root.Line, Reason: "the parameters must be a list of headers and fields"}
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, &TextError{Line: more.Line, Reason: "the parameters are one document"}
	}
	asWritten(root)
	return root, nil
}

// asWritten has dates stay the texts that they are written as.
func asWritten(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, inner := range node.Content {
		asWritten(inner)
	}
}

// placed finds the line of a property that is wrong.
func placed(bad *BlockError, block *yaml.Node) *TextError {
	at := &TextError{Line: block.Line, Block: bad.Block, Property: bad.Property, Reason: bad.Reason}
	for block.Kind == yaml.AliasNode {
		block = block.Alias
	}
	for i := 0; i+1 < len(block.Content); i += 2 {
		if block.Content[i].Value == bad.Property {
			at.Line = block.Content[i].Line
		}
	}
	return at
}

var errorLine = regexp.MustCompile(`line (\d+): (.*)`)

func textError(err error) *TextError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var several *yaml.TypeError
	if errors.As(err, &several) && len(several.Errors) > 0 {
		text = several.Errors[0]
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if m := errorLine.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1]) // the pattern has only digits here
		return &TextError{Line: line, Reason: m[2]}
	}
	return &TextError{Reason: text}
}

// WriteYAML writes a schema that has no text yet.
func WriteYAML(s Schema) (string, error) {
	var out strings.Builder
	for _, b := range s {
		text, err := writeBlock(b)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// given are the properties of a block as JSON. The one column that every field has is not told.
func (b Block) given() (map[string]json.RawMessage, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("write a block: %w", err)
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, fmt.Errorf("write a block: %w", err)
	}
	if string(out["span"]) == "1" {
		delete(out, "span")
	}
	return out, nil
}

func writeBlock(b Block) (string, error) {
	given, err := b.given()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range append([]string{"header"}, properties...) {
		value, has := given[name]
		if !has {
			continue
		}
		text, err := writeProperty(name, value)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return "- " + strings.TrimPrefix(indent(out.String(), 2), "  "), nil
}

// writeProperty writes one line, or more, without indentation.
func writeProperty(name string, value json.RawMessage) (string, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(value, &node); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	plain(&node)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Value: name}, node.Content[0],
	}})
	if err == nil {
		err = encoder.Close()
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return out.String(), nil
}

// oldTruth are texts that older readers of YAML take for true and false.
var oldTruth = regexp.MustCompile(`^(?i:y|yes|n|no|on|off)$`)

// plain drops the style that nodes have from JSON; texts that look like something else keep quotes.
func plain(node *yaml.Node) {
	if node.Kind != yaml.ScalarNode || node.Tag == "!!str" {
		node.Style = 0
	}
	switch {
	case node.Tag != "!!str":
	case strings.Contains(node.Value, "\n"):
		node.Style = yaml.LiteralStyle
	case oldTruth.MatchString(node.Value):
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, inner := range node.Content {
		plain(inner)
	}
}

func indent(text string, by int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			out.WriteString(strings.Repeat(" ", by))
		}
		out.WriteString(line)
	}
	return out.String()
}
