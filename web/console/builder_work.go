package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/views/builder"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/web/respond"
)

// schemaWork is the text of a schema with what a person did to its blocks. Text goes in and text
// comes out, so that the form around it has nothing to know of blocks.
type schemaWork struct {
	name, text      string
	catalog, asText bool
	// again is true when the form is to be shown again: somebody worked on the blocks, or what
	// they typed cannot be written into the text.
	again   bool
	open    *openBlock
	problem fault.Message // with the text
	focus   string
}

// openBlock is a block that is being changed, as it was typed.
type openBlock struct {
	at            int // its place, from 0
	fresh, header bool
	typed         map[string]string // by property
	choices       []builder.Choice
	problems      map[string]fault.Message
}

// schemaWorkIn reads the builder's part of a form and does what its buttons ask for. name is that
// of the text.
func schemaWorkIn(form url.Values, name string) *schemaWork {
	get := func(control string) string { return form.Get(name + "." + control) }
	w := &schemaWork{
		name: name, text: lineEnds.Replace(form.Get(name)), catalog: get(builder.For) == builder.ForCatalog,
		asText: get(builder.Mode) == builder.ModeText || !form.Has(builder.NameKey),
	}
	act, place, _ := strings.Cut(get(builder.Act), ":")
	at, err := strconv.Atoi(place)
	if err != nil {
		at = -1
	}
	w.again = act != ""
	if w.asText {
		if act == builder.ActBlocks {
			w.asText = false
			w.read()
		}
		return w
	}
	blocks := w.read()
	if w.asText {
		w.again = true
		return w
	}
	w.open = openIn(form, name)
	if w.open == nil || act == builder.ActClose {
		w.open = nil
	} else if shift, ok := w.apply(blocks); ok {
		if at >= w.open.at {
			at += shift
		}
		w.focus = builder.ButtonID(builder.ActOpen, w.open.at)
		w.open = nil
	} else {
		w.again = true // what is typed stays until it can be written
		return w
	}
	w.do(act, at)
	return w
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// read gives the blocks of the text. A text that cannot be read is shown as it is.
func (w *schemaWork) read() schema.Schema {
	blocks, err := schema.ParseYAML(w.text)
	var bad *schema.TextError
	if errors.As(err, &bad) {
		w.asText, w.problem = true, bad.Message
	}
	return blocks
}

// openIn reads the block that is being changed; nil when there is none.
func openIn(form url.Values, name string) *openBlock {
	get := func(control string) string { return form.Get(name + "." + control) }
	at, err := strconv.Atoi(get(builder.OpenAt))
	if err != nil || at < 0 {
		return nil
	}
	o := &openBlock{at: at, fresh: get(builder.OpenNew) == "true", header: form.Has(name + "." + builder.Header), typed: map[string]string{}}
	for control, given := range form {
		if property, is := strings.CutPrefix(control, name+"."); is {
			o.typed[property] = lineEnds.Replace(given[0])
		}
	}
	texts, values := form[name+"."+builder.Text], form[name+"."+builder.Value]
	for i := range min(len(texts), len(values)) {
		if strings.TrimSpace(texts[i]) != "" || strings.TrimSpace(values[i]) != "" {
			o.choices = append(o.choices, builder.Choice{Text: texts[i], Value: values[i]})
		}
	}
	return o
}

// edits are the blocks of the text as they are.
func edits(blocks schema.Schema) []schema.Edit {
	out := make([]schema.Edit, len(blocks))
	for i, b := range blocks {
		out[i] = schema.Edit{From: i, Block: b}
	}
	return out
}

// apply writes the open block into the text. shift is how far the blocks behind it moved. ok is
// false when the block has problems, which it has then with it.
func (w *schemaWork) apply(blocks schema.Schema) (shift int, ok bool) {
	o := w.open
	if o.at > len(blocks) || !o.fresh && o.at >= len(blocks) {
		return 0, true // the text has no such block any more
	}
	var before schema.Block
	if !o.fresh {
		before = blocks[o.at]
	}
	block, problems := o.block(before)
	if len(problems) > 0 {
		o.problems = problems
		return 0, false
	}
	wanted := edits(blocks)
	if o.fresh {
		wanted, shift = slices.Insert(wanted, o.at, schema.Edit{From: -1, Block: block}), 1
	} else {
		wanted[o.at].Block = block
	}
	return shift, w.write(wanted)
}

// write puts blocks into the text. What is wrong with one of them is told where it belongs.
func (w *schemaWork) write(wanted []schema.Edit) bool {
	text, err := schema.EditYAML(w.text, wanted)
	var bad *schema.BlockError
	switch {
	case errors.As(err, &bad):
		if w.open == nil {
			w.problem = bad.Message
		} else {
			w.open.problems = map[string]fault.Message{bad.Property: bad.Message}
		}
		return false
	case err != nil:
		w.problem = fault.Message{Key: "schema.unreadable", Args: []any{0, err.Error()}}
		return false
	}
	w.text = text
	return true
}

// do is one act on the blocks.
func (w *schemaWork) do(act string, at int) {
	blocks := w.read()
	wanted := edits(blocks)
	there := at >= 0 && at < len(blocks)
	switch act {
	case builder.ActText:
		w.asText = true
	case builder.ActOpen:
		if there {
			w.open = opened(blocks[at], at)
		}
	case builder.ActAddField, builder.ActAddHeader:
		at = min(max(at, 0), len(blocks))
		w.open = &openBlock{at: at, fresh: true, header: act == builder.ActAddHeader, typed: map[string]string{builder.Kind: schema.String}}
	case builder.ActDelete:
		if there {
			w.write(slices.Delete(wanted, at, at+1))
			w.focus = builder.ButtonID(builder.ActDelete, min(at, len(blocks)-2))
		}
	case builder.ActUp, builder.ActDown:
		to := at + 1
		if act == builder.ActUp {
			to = at - 1
		}
		if there && to >= 0 && to < len(blocks) {
			wanted[at], wanted[to] = wanted[to], wanted[at]
			w.write(wanted)
			w.focus = builder.ButtonID(act, to)
			if to == 0 || to == len(blocks)-1 {
				w.focus = builder.ButtonID(builder.ActOpen, to) // it cannot go on
			}
		}
	}
}

// model is what the page shows of the work.
func (w *schemaWork) model(ctx context.Context, address string) builder.Model {
	m := builder.Model{
		Name: w.name, Text: w.text, AsText: w.asText, Address: address, Catalog: w.catalog,
		Problem: i18n.Message(w.problem), Focus: w.focus,
	}
	if w.asText {
		return m
	}
	blocks, err := schema.ParseYAML(w.text)
	if err != nil { // a page that shows a text for the first time
		w.read()
		m.AsText, m.Problem = true, i18n.Message(w.problem)
		return m
	}
	for _, b := range blocks {
		m.Blocks = append(m.Blocks, listed(b))
	}
	if w.open != nil {
		m.Open = w.open.editor(ctx, w.name, w.catalog)
	}
	return m
}

// status is the one of an answer that shows the work.
func (w *schemaWork) status() int {
	if w.problem.Key != "" || w.open != nil && len(w.open.problems) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// BuildSchema answers a button of the builder with the builder alone: a text comes in, and goes out
// as its blocks. Nothing is kept.
func (c *Console) BuildSchema(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	name := r.PostForm.Get(builder.NameKey)
	if name == "" {
		return fault.New(fault.Invalid, "fault.form")
	}
	work := schemaWorkIn(r.PostForm, name)
	fragment := builder.Builder(work.model(r.Context(), paths.SchemaBuilder(workspace.Slug)))
	return respond.HTML(w, r, work.status(), fragment, fragment)
}
