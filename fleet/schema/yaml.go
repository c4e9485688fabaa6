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

	"commander/internal/fault"
)

// TextError says what is wrong with the text of a schema, and where.
type TextError struct {
	Line     int    // from 1; 0 when unknown
	Block    int    // from 1; 0 when the text is no list of blocks
	Property string // empty when the block as a whole is wrong
	// Message names the block, or the line when the text is no list of blocks.
	Message fault.Message
}

func (e *TextError) Error() string {
	return fmt.Sprintf("read the parameter schema, line %d: %s %v", e.Line, e.Message.Key, e.Message.Args)
}

// badText is a text that is no list of blocks.
func badText(line int, key string, args ...any) *TextError {
	return &TextError{Line: line, Message: fault.Message{Key: key, Args: args}}
}

// maxText bounds the text of a schema, in bytes.
const maxText = 1 << 20

// ParseYAML reads a schema as its author wrote it. An empty text is a schema without blocks. It
// fails with a TextError.
func ParseYAML(text string) (Schema, error) {
	s, _, _, err := read(text)
	return s, err
}

// JSON reads a schema from YAML and gives it as JSON as well, with the properties that its author
// wrote. It fails with a TextError.
func JSON(text string) (Schema, json.RawMessage, error) {
	s, _, body, err := read(text)
	return s, body, err
}

// read gives the list of blocks as it stands in the text as well; nil when the text is empty.
func read(text string) (Schema, *yaml.Node, json.RawMessage, error) {
	root, err := readList(text)
	if err != nil || root == nil {
		return nil, nil, json.RawMessage("[]"), err
	}
	blocks := make([]json.RawMessage, len(root.Content))
	for i, node := range root.Content {
		var properties map[string]any
		err := node.Decode(&properties)
		if err != nil {
			at := textError(err)
			at.Block = i + 1
			return nil, root, nil, at
		}
		if properties == nil {
			return nil, root, nil, placed(wrong("", "schema.nothing").at(i+1), node)
		}
		if blocks[i], err = json.Marshal(properties); err != nil {
			return nil, root, nil, placed(wrong("", "schema.texts").at(i+1), node)
		}
	}
	body, err := json.Marshal(blocks)
	if err != nil {
		return nil, root, nil, badText(0, "schema.yaml", 0, err.Error())
	}
	s, err := Parse(body)
	var bad *BlockError
	switch {
	case errors.As(err, &bad):
		return nil, root, nil, placed(bad, root.Content[bad.Block-1])
	case err != nil:
		return nil, root, nil, badText(0, "schema.yaml", 0, err.Error())
	}
	return s, root, body, nil
}

func readList(text string) (*yaml.Node, error) {
	switch {
	case len(text) > maxText:
		return nil, badText(0, "schema.large", maxText>>10)
	case !utf8.ValidString(text):
		return nil, badText(0, "schema.encoding")
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
		return nil, badText(root.Line, "schema.list", root.Line)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, badText(more.Line, "schema.documents", more.Line)
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
	at := &TextError{block.Line, bad.Block, bad.Property, bad.Message}
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
	line, text := Place(err)
	return badText(line, "schema.yaml", line, text)
}

// Place tells the line of an error of the YAML decoder, 0 when it names none, and what it says of it.
func Place(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "yaml: ")
	var several *yaml.TypeError
	if errors.As(err, &several) && len(several.Errors) > 0 {
		text = several.Errors[0]
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if m := errorLine.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1]) // the pattern has only digits here
		return line, m[2]
	}
	return 0, text
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
