package schema_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/fleet/schema"
)

const written = `# Parameters of the shop.

# About nodes
- header: "Nodes"   # shown above
- title: How many   # people ask
  key: count
  # Two survive the loss of one.
  type: number
  default: 2.0
  min: 1 # never none

- key: motd
  type: string
  title: Message
  description: |
    First line
    # not a comment
    - not a block
  enum: ["a b", 'c']
  optional: false

# Kept for later
- {key: zone, type: string, title: Zone}
# the end
`

func edits(t *testing.T, text string) []schema.Edit {
	t.Helper()
	s, err := schema.ParseYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	var out []schema.Edit
	for i, b := range s {
		if b.Field != nil {
			f := *b.Field
			b.Field = &f
		}
		out = append(out, schema.Edit{From: i, Block: b})
	}
	return out
}

func TestAnEditKeepsWhatItDoesNotTouch(t *testing.T) {
	t.Parallel()
	five := 5.0
	cases := []struct {
		name string
		edit func(e []schema.Edit) []schema.Edit
		want string
	}{
		{"nothing", func(e []schema.Edit) []schema.Edit { return e }, written},
		{"a value, with its remark", func(e []schema.Edit) []schema.Edit {
			e[1].Block.Field.Min = &five
			e[1].Block.Field.Default = 7.0
			return e
		}, strings.Replace(strings.Replace(written, "min: 1 #", "min: 5 #", 1), "default: 2.0", "default: 7", 1)},
		{"a new property has its place", func(e []schema.Edit) []schema.Edit {
			e[1].Block.Field.Span = 2
			return e
		}, strings.Replace(written, "  default: 2.0\n", "  default: 2.0\n  span: 2\n", 1)},
		{"the first property", func(e []schema.Edit) []schema.Edit {
			e[1].Block.Field.Title = "Number"
			return e
		}, strings.Replace(written, "How many   #", "Number #", 1)},
		{"one that is no more", func(e []schema.Edit) []schema.Edit {
			e[1].Block.Field.Min = nil
			return e
		}, strings.Replace(written, "  min: 1 # never none\n", "", 1)},
		{"one that is written but says nothing", func(e []schema.Edit) []schema.Edit {
			e[2].Block.Field.Optional = true
			return e
		}, strings.Replace(written, "optional: false", "optional: true", 1)},
		{
			"a block less", func(e []schema.Edit) []schema.Edit { return append(e[:1:1], e[2:]...) },
			written[:strings.Index(written, "- title")] + written[strings.Index(written, "- key: motd"):], //nolint:gocritic // both are there
		},
		{
			"another order", func(e []schema.Edit) []schema.Edit { return []schema.Edit{e[3], e[0], e[1], e[2]} },
			"# Parameters of the shop.\n\n# Kept for later\n- {key: zone, type: string, title: Zone}\n" +
				written[strings.Index(written, "# About"):strings.Index(written, "# Kept")] + "# the end\n",
		},
		{"a new block", func(e []schema.Edit) []schema.Edit {
			return append(e, schema.Edit{From: -1, Block: schema.Block{Field: &schema.Field{Key: "x", Title: "1", Type: "string", Default: "yes"}}})
		}, strings.Replace(written, "# the end\n", "- key: x\n  type: string\n  title: \"1\"\n  default: \"yes\"\n# the end\n", 1)},
		{"one written on a line", func(e []schema.Edit) []schema.Edit {
			e[3].Block.Field.Title = "Z"
			return e
		}, strings.Replace(written, "- {key: zone, type: string, title: Zone}\n", "- key: zone\n  type: string\n  title: Z\n", 1)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := schema.EditYAML(written, c.edit(edits(t, written)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryEditReadsAsItWasMeant(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "# only a note\n", "[]", "--- # begins\n" + written + "...\n", strings.ReplaceAll(strings.TrimSpace(sample), "\t", " "), "  - header: A\n  - key: b\n    type: string\n    title: B",
		"- &a {key: a, type: string, title: A}\n- key: b\n  type: string\n  title: &t Same\n- key: c\n  type: number\n  title: *t\n",
		"-\n  key: a\n  type: string\n  title: A\n- # note\n  header: H\n", written,
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := texts[random.IntN(len(texts))]
		wanted := edits(t, text)
		for range 1 + random.IntN(4) {
			wanted = disturb(random, wanted)
		}
		got, err := schema.EditYAML(text, wanted)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		again, err := schema.ParseYAML(got)
		if err != nil {
			t.Fatalf("%v in\n%s", err, got)
		}
		blocks := schema.Schema{}
		for _, e := range wanted {
			blocks = append(blocks, e.Block)
		}
		x, _ := json.Marshal(blocks)
		y, _ := json.Marshal(append(schema.Schema{}, again...))
		if string(x) != string(y) {
			t.Fatalf("got %s, want %s from\n%s", y, x, got)
		}
	}
}

func disturb(random *rand.Rand, e []schema.Edit) []schema.Edit {
	if len(e) == 0 || random.IntN(4) == 0 {
		key := "n" + string(rune('a'+random.IntN(26))) + string(rune('a'+random.IntN(26)))
		if slices.ContainsFunc(e, func(o schema.Edit) bool { return o.Block.Field != nil && o.Block.Field.Key == key }) {
			return e
		}
		added := schema.Edit{From: -1, Block: schema.Block{Field: &schema.Field{
			Key: key, Type: schema.String, Title: "true", Description: "two\n  lines: #\n", Span: 1 + random.IntN(4),
			Enum: []any{"no", "1", "x: y"},
		}}}
		return slices.Insert(e, random.IntN(len(e)+1), added)
	}
	i := random.IntN(len(e))
	switch random.IntN(4) {
	case 0:
		return slices.Delete(e, i, i+1)
	case 1:
		j := random.IntN(len(e))
		e[i], e[j] = e[j], e[i]
	case 2:
		if f := e[i].Block.Field; f != nil {
			f.Title, f.Optional, f.Description = "~", !f.Optional, []string{"", "null", "- a\n\n  b", " x"}[random.IntN(4)]
		} else {
			e[i].Block.Header = "# no note"
		}
	case 3:
		e[i].Block = schema.Block{Header: "H: h"}
	}
	return e
}

func TestWhatIsWrongWithATextIsSaidAtItsLine(t *testing.T) {
	t.Parallel()
	bomb := "- header: A\n- key: a\n  type: string\n  title: T\n  enum: [&a [x,x,x,x,x,x,x,x,x]"
	for c := 'b'; c < 'k'; c++ {
		p := "*" + string(c-1)
		bomb += ", &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat(p+",", 9), ",") + "]"
	}
	cases := []struct {
		name, text  string
		line, block int
		property    string
		says        string
	}{
		{"no list", "a: b", 1, 0, "", "schema.list"},
		{"tab", "- header: A\n-\tkey: a\n\ttype: string", 0, 0, "", ""},
		{"duplicate key", "- header: A\n- key: a\n  key: b", 3, 2, "", "already defined"},
		{"NUL", "- header: a\x00", 0, 0, "", "control characters"},
		{"another encoding", "- header: \xff", 0, 0, "", "schema.encoding"},
		{"two documents", "- header: a\n---\n- header: b", 2, 0, "", "schema.documents"},
		{"nothing", "- header: A\n-", 2, 2, "", "schema.nothing"},
		{"unknown property", "- header: A\n- key: a\n  title: A\n  type: string\n  wide: 2", 5, 2, "wide", "schema.unknown"},
		{"of another type", "- key: a\n  title: A\n  type: string\n  span: wide", 4, 1, "span", "schema.mistyped"},
		{"one bound of a list", "- key: a\n  title: A\n  catalog: hosts\n  maxItems: 2", 4, 1, "maxItems", "schema.both_items"},
		{"anchors that explode", bomb + "]", 0, 2, "", "aliasing"},
		{"infinite", "- key: a\n  default: .inf", 1, 1, "", "schema.texts"},
		{"twice", "- {key: a, type: string, title: A}\n- title: A\n  key: a\n  type: string", 3, 2, "key", "schema.key_twice"},
	}
	for _, c := range cases {
		_, err := schema.ParseYAML(c.text)
		var at *schema.TextError
		if !errors.As(err, &at) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		if c.line > 0 && at.Line != c.line || at.Block != c.block || at.Property != c.property || !strings.Contains(at.Error(), c.says) {
			t.Errorf("%s: got %+v, want line %d block %d property %q with %q", c.name, at, c.line, c.block, c.property, c.says)
		}
	}
}

func TestDatesStayTexts(t *testing.T) {
	t.Parallel()
	s, err := schema.ParseYAML("- {key: a, type: string, title: A, default: 2020-01-02}")
	if err != nil || s[0].Field.Default != "2020-01-02" {
		t.Errorf("got %v, %v", s, err)
	}
}
