package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// piece is a property of a block with the comments above it.
type piece struct{ name, notes, text, remark string }

// editBlock changes the properties of a block that differ and leaves the others as they are. ok is
// false when the block is not written with a line for each property. first is the line of the
// text, from 0, that the body begins with.
func editBlock(body string, node *yaml.Node, first, column int, had, wanted map[string]json.RawMessage) (edited string, ok bool, err error) {
	if sameProperties(had, wanted) {
		return body, true, nil
	}
	pieces, rest, ok := cutBlock(body, node, first, column)
	if !ok {
		return "", false, nil
	}
	pieces = slices.DeleteFunc(pieces, func(p piece) bool {
		_, was := had[p.name]
		_, stays := wanted[p.name]
		return was && !stays
	})
	in := node.Column - 1
	for _, name := range append([]string{"header"}, properties...) {
		value, has := wanted[name]
		if !has || bytes.Equal(had[name], value) {
			continue
		}
		text, err := writeProperty(name, value)
		if err != nil {
			return "", false, err
		}
		at := slices.IndexFunc(pieces, func(p piece) bool { return p.name == name })
		if at < 0 {
			at = placeOf(pieces, name)
			pieces = slices.Insert(pieces, at, piece{name: name})
		}
		if remark := pieces[at].remark; remark != "" && strings.Count(text, "\n") == 1 {
			text = strings.TrimSuffix(text, "\n") + " " + remark + "\n"
		}
		pieces[at].text = indent(text, in)
	}
	if len(pieces) == 0 {
		return "", false, nil
	}
	var out strings.Builder
	for i, p := range pieces {
		out.WriteString(p.notes)
		if i > 0 {
			out.WriteString(p.text)
			continue
		}
		// The dash stands on the line of what is the first property now.
		out.WriteString(p.text[:column] + "-" + p.text[column+1:])
	}
	return out.String() + rest, true, nil
}

func sameProperties(a, b map[string]json.RawMessage) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		if other, has := b[name]; !has || !bytes.Equal(value, other) {
			return false
		}
	}
	return true
}

// placeOf is where a new property goes: behind those that are written before it.
func placeOf(pieces []piece, name string) int {
	place := 0
	for i, p := range pieces {
		if slices.Index(properties, p.name) < slices.Index(properties, name) {
			place = i + 1
		}
	}
	return place
}

// cutBlock cuts a block at its properties. rest are empty lines at its end.
func cutBlock(body string, node *yaml.Node, first, column int) (pieces []piece, rest string, ok bool) {
	if node.Kind != yaml.MappingNode || node.Style&yaml.FlowStyle != 0 || node.Anchor != "" || len(node.Content) == 0 {
		return nil, "", false
	}
	in := node.Column - 1
	lines := strings.SplitAfter(strings.TrimSuffix(body, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	end := len(lines)
	for end > 1 && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	rest, lines = strings.Join(lines[end:], ""), lines[:end]
	if node.Content[0].Line-1 != first || in <= column {
		return nil, "", false // something stands between the dash and the first property
	}
	lines[0] = lines[0][:column] + " " + lines[0][column+1:]
	from := 0
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		line, to := key.Line-1-first, len(lines)
		if i+2 < len(node.Content) {
			to = node.Content[i+2].Line - 1 - first
			for to > line+1 && isNote(lines[to-1], in) {
				to--
			}
		}
		if line < from || to <= line || to > len(lines) {
			return nil, "", false
		}
		p := piece{name: key.Value, notes: strings.Join(lines[from:line], ""), text: strings.Join(lines[line:to], "")}
		if value.Kind == yaml.ScalarNode {
			p.remark = value.LineComment
		}
		pieces, from = append(pieces, p), to
	}
	return pieces, rest, true
}
