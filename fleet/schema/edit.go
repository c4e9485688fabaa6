package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Edit is a block of a schema after somebody worked on it.
type Edit struct {
	// From is the place of the block in the text before, from 0; -1 for a new one.
	From  int
	Block Block
}

// EditYAML writes the blocks of edits, in their order, into a text that had others. What did not
// change stays as its author wrote it to the byte, with comments and the order of properties; a
// comment above a block goes where the block goes. A block of the text that no edit names is gone.
// It fails with a TextError when the text cannot be read, or when the blocks make no schema.
func EditYAML(text string, edits []Edit) (string, error) {
	before, root, _, err := read(text)
	if err != nil {
		return "", err
	}
	wanted := make(Schema, len(edits))
	for i, e := range edits {
		if e.From < -1 || e.From >= len(before) {
			return "", fmt.Errorf("edit block %d: the text has no block %d", i+1, e.From+1)
		}
		wanted[i] = e.Block
	}
	cut := cutText(text, root)
	edited, err := cut.apply(before, edits)
	if err != nil {
		return "", err
	}
	if ok, err := says(edited, wanted); ok || err != nil {
		return edited, err
	}
	// Blocks that lean on each other by anchors do not survive being moved: they are written out.
	cut.nodes = nil
	if edited, err = cut.apply(nil, edits); err != nil {
		return "", err
	}
	if ok, err := says(edited, wanted); err != nil || !ok {
		return "", fmt.Errorf("write the parameter schema: it does not read as it was meant: %w", err)
	}
	return edited, nil
}

// says reports whether a text reads as a schema. It fails when the schema is none.
func says(text string, wanted Schema) (bool, error) {
	body, err := json.Marshal(wanted)
	if err != nil {
		return false, fmt.Errorf("write the parameter schema: %w", err)
	}
	checked, err := Parse(body)
	if err != nil {
		return false, err
	}
	got, err := ParseYAML(text)
	if err != nil {
		return false, nil //nolint:nilerr // a schema that is sound, so that the text does not say it
	}
	x, errX := json.Marshal(got)
	y, errY := json.Marshal(checked)
	return errX == nil && errY == nil && (bytes.Equal(x, y) || len(got) == 0 && len(checked) == 0), nil
}

// cut is a text in pieces, each ending a line.
type cut struct {
	head, tail string
	// notes are the comments above each block, bodies the blocks; nodes are nil when the text has no
	// lines of its own for each block.
	notes, bodies []string
	nodes         []*yaml.Node
	column        int // of the dashes, from 0
	lines         []int
}

// cutText cuts the text of a list at its blocks. A list on one line cannot be cut.
func cutText(text string, root *yaml.Node) *cut {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if root == nil || len(root.Content) == 0 {
		c := &cut{head: text}
		if root != nil || !onlyNotes(text) {
			c.head = ""
		}
		return c
	}
	c := &cut{notes: make([]string, len(root.Content)), bodies: make([]string, len(root.Content))}
	if root.Style&yaml.FlowStyle != 0 {
		return c
	}
	c.column, c.nodes = root.Column-1, root.Content
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	starts, dashes := make([]int, len(c.nodes)+1), make([]int, len(c.nodes))
	for i, node := range c.nodes {
		dashes[i] = dashAbove(lines, node.Line-1, c.column)
		starts[i] = dashes[i]
		for starts[i] > 0 && isNote(lines[starts[i]-1], c.column) {
			starts[i]--
		}
	}
	end := len(lines)
	for end > dashes[len(dashes)-1]+1 && (isNote(lines[end-1], c.column) || strings.TrimSpace(lines[end-1]) == "" || lines[end-1] == "...\n") {
		end--
	}
	starts[len(c.nodes)] = end
	c.head, c.tail = strings.Join(lines[:starts[0]], ""), strings.Join(lines[end:], "")
	for i := range c.nodes {
		c.notes[i] = strings.Join(lines[starts[i]:dashes[i]], "")
		c.bodies[i] = strings.Join(lines[dashes[i]:starts[i+1]], "")
	}
	c.lines = dashes
	return c
}

func onlyNotes(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line != "---" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// dashAbove is the line of the dash that begins a block: only dashes of the list stand in its column.
func dashAbove(lines []string, line, column int) int {
	for ; line > 0; line-- {
		text := lines[line]
		if len(text) > column && text[column] == '-' && strings.TrimSpace(text[:column]) == "" {
			break
		}
	}
	return line
}

// isNote reports whether a line is a comment that belongs to the list, not to what is inside of a block.
func isNote(line string, column int) bool {
	bare := strings.TrimLeft(line, " ")
	return strings.HasPrefix(bare, "#") && len(line)-len(bare) <= column
}

// apply puts the pieces together in their new order.
func (c *cut) apply(before Schema, edits []Edit) (string, error) {
	var out strings.Builder
	out.WriteString(c.head)
	for _, e := range edits {
		if e.From < 0 {
			body, err := writeBlock(e.Block)
			if err != nil {
				return "", err
			}
			out.WriteString(indent(body, c.column))
			continue
		}
		out.WriteString(c.notes[e.From])
		body, err := c.body(before, e)
		if err != nil {
			return "", err
		}
		out.WriteString(body)
	}
	out.WriteString(c.tail)
	return out.String(), nil
}

// body is the text of a block that was there.
func (c *cut) body(before Schema, e Edit) (string, error) {
	wanted, err := e.Block.given()
	if err != nil {
		return "", err
	}
	if c.nodes != nil {
		had, err := before[e.From].given()
		if err != nil {
			return "", err
		}
		body, ok, err := editBlock(c.bodies[e.From], c.nodes[e.From], c.lines[e.From], c.column, had, wanted)
		if ok || err != nil {
			return body, err
		}
	}
	body, err := writeBlock(e.Block)
	return indent(body, c.column), err
}
