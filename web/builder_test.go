package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/views/builder"
	"commander/views/inventory"
	"commander/views/paths"
)

// everyProperty is a schema that has each property somewhere, written as people write.
const everyProperty = `# What a cluster is made from.
- header: Machines # and where they stand

- key: role
  type: string # free text
  title: Role
  description: |
    Two lines
    of it.
  minLength: 2
  maxLength: 20
  pattern: "^[a-z]+$"
  default: 'worker'
  unique: true
- {key: size, title: Size, span: 2, select: [{text: Small, value: {cpu: 2}}, {text: "5", value: "5"}, {text: Five, value: 5}], default: {cpu: 2}}
# how many of them
- title: Count
  key: count
  type: number
  min: 0.5
  max: 1_000
  enum: [1, 2.5]
  span: 4
- key: zones
  type: string
  title: Zones
  enum: [a, "b c", 'true']
  minItems: 1
  maxItems: 3
  default: [a, b c]
- key: site
  type: string
  title: Site
  format: url
  optional: True
  immutable: true
  hidden: true
- key: on
  type: boolean
  title: On
  default: true
- key: token
  type: string
  title: Token
  format: password
  multiline: true
  identifier: false
- catalog: hosts
  key: hosts
  title: Hosts
  minItems: 1
  maxItems: 2
  autoselect: true
`

// work is a builder at work: each act is one plain form post.
type work struct {
	t  *testing.T
	b  *browser
	at answer
}

func (w *work) act(act string, changes ...string) answer {
	w.t.Helper()
	form := w.at.fill(w.t, ".builder", append(changes, "params."+builder.Act, act)...)
	w.at = w.b.post(paths.SchemaBuilder("demo"), form)
	return w.at
}

func (w *work) text() string { return w.at.Find("textarea[name=params]").Text() }

func builderOf(t *testing.T, text string) *work {
	t.Helper()
	w := &work{t: t, b: newSite(t).as("olga", store.RoleFull)}
	w.at = w.b.post(paths.SchemaBuilder("demo"), url.Values{builder.NameKey: {"params"}, "params": {text}})
	require.Equal(t, http.StatusOK, w.at.StatusCode, w.at.text)
	return w
}

func TestBlocksAndTextAreTheSame(t *testing.T) {
	t.Parallel()
	w := builderOf(t, everyProperty)
	blocks := w.at.Find(".brick").Length()
	require.Equal(t, 9, blocks)
	require.Contains(t, w.at.Find(".brick").Eq(1).Text(), "default: worker", "defaults are visible")

	// Each block opened and applied as it is leaves the text alone to the byte.
	for i := range blocks {
		w.act(builder.ActOpen + ":" + strconv.Itoa(i))
		require.Equal(t, 1, w.at.Find(".opened").Length())
		w.act(builder.ActApply + ":" + strconv.Itoa(i))
		require.Equal(t, http.StatusOK, w.at.StatusCode, w.at.Find(".problem").Text())
		require.Equal(t, everyProperty, w.text(), "block %d", i)
	}

	// One change is one line.
	w.act("open:1")
	w.act("apply:1", "params.title", "Role of it", "params.maxLength", "21")
	changed := strings.Replace(strings.Replace(everyProperty, "title: Role\n", "title: Role of it\n", 1), "maxLength: 20", "maxLength: 21", 1)
	require.Equal(t, changed, w.text())

	// A block takes its comment along, there and back.
	w.act("up:3")
	require.Less(t, strings.Index(w.text(), "# how many of them"), strings.Index(w.text(), "key: size"))
	w.act("down:2")
	require.Equal(t, changed, w.text())

	// What is not sound stays as it was typed, and the text waits.
	w.act("open:3")
	w.act("up:1", "params.min", "many", "params.title", "")
	require.Equal(t, http.StatusUnprocessableEntity, w.at.StatusCode)
	require.Equal(t, "many", w.at.Find("[name='params.min']").AttrOr("value", ""))
	require.Contains(t, w.at.Find(".problem").Text(), "Block 4: the property min cannot be of the type string.")
	require.Equal(t, changed, w.text())
	w.act("close:3")
	require.Equal(t, changed, w.text())

	// New blocks go where they are added, and blocks go.
	w.act("add-header:9")
	w.act("apply:9", "params.header", "The end")
	w.act("add-field:10")
	w.act("apply:10", "params.key", "speed", "params.title", "Speed", "params.kind", "number", "params.min", "1,5", "params.pattern", "left over from a text")
	require.Equal(t, changed+"- header: The end\n- key: speed\n  type: number\n  title: Speed\n  min: 1.5\n", w.text())
	w.act("delete:10")
	w.act("delete:9")
	require.Equal(t, changed, w.text())

	// The text can be written by hand, and comes back as blocks when it can be read.
	w.act(builder.ActText)
	w.act(builder.ActBlocks, "params", "- key: a\n  type: nothing\n  title: A\n")
	require.Equal(t, http.StatusUnprocessableEntity, w.at.StatusCode)
	require.Contains(t, w.at.Find(".problem").Text(), "Block 1: the type of a")
	w.act(builder.ActBlocks, "params", "- header: <b>A</b>\n")
	require.Equal(t, "<b>A</b>", w.at.Find(".brick .open").Text())
}

func TestACatalogIsBuiltWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	keeper := s.as("olga", store.RoleFull)
	at := keeper.get(paths.NewCatalog("demo"))
	act := func(act string, changes ...string) {
		t.Helper()
		form := at.fill(t, "main form", append(changes, "params."+builder.Act, act)...)
		at = keeper.post(paths.Catalogs("demo"), form)
		require.Equal(t, http.StatusOK, at.StatusCode, at.Find(".problem").Text())
	}
	act("add-field:1", inventory.FieldName, "Hosts")
	require.Equal(t, "Hosts", at.Find("#f-name").AttrOr("value", ""), "the rest of the form stays as typed")
	// Another button applies what is open first.
	act("open:0", "params.key", "address", "params.title", "Address", "params.format", "ipv4", "params.unique", "true")
	act("delete:0")
	require.Equal(t, "- key: address\n  type: string\n  title: Address\n  format: ipv4\n  unique: true\n", at.Find("textarea[name=params]").Text())
	act("open:0")

	// Saving applies it as well, or says why it cannot.
	form := at.fill(t, "main form", inventory.FieldSlug, "hosts", "params.title", "")
	got := keeper.post(paths.Catalogs("demo"), form)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find(".problem").Text(), "Block 1: address needs a title.")
	form.Set("params.title", "IP address")
	got = keeper.post(paths.Catalogs("demo"), form)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Find(".problem").Text())

	settings := got.Header.Get("Location") + "/settings"
	at = keeper.get(settings)
	require.Contains(t, at.Find("textarea[name=params]").Text(), "title: IP address")
	// Comments of the author are there the next day.
	text := "# Machines of the hall\n- key: address # as in DNS\n  title: IP address\n  type: string\n  format: ipv4\n  unique: true\n"
	got = keeper.post(settings, at.fill(t, "main form[action='"+settings+"']", "params", text, "params.mode", builder.ModeText))
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	require.Equal(t, text, keeper.get(settings).Find("textarea[name=params]").Text())
}

func TestATemplatesParametersAreBuiltInItsEditor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	author := s.as("olga", store.RoleFull)
	at := author.get(paths.NewTemplate("demo"))
	require.Equal(t, 1, at.Find("textarea[name=params][data-yaml]").Length(), "the editor begins with the text")
	address := at.Find("#template-form").AttrOr("action", "")
	act := func(act string, changes ...string) {
		t.Helper()
		at = author.post(address, at.fill(t, "#template-form", append(changes, "params."+builder.Act, act)...))
		require.Equal(t, http.StatusOK, at.StatusCode, at.Find(".problem").Text())
	}
	act(builder.ActBlocks, "name", "Built", "params", "# Ours.\n- key: kubernetesVersion\n  type: string\n  title: Version\n  default: \"1.37\"\n")
	act("add-field:1")
	act("apply:1", "params.key", "hosts", "params.title", "Hosts", "params.kind", "catalog", "params.catalog", "hosts", "params.minItems", "1", "params.maxItems", "2", "params.optional", "true")
	require.Equal(t, "Built", at.Find("[name=name]").AttrOr("value", ""))
	require.Equal(t, 1, at.Find("[data-dual]").Length(), "the draft is tried with the new parameter")
	act("open:0")
	filled := at.fill(t, "#template-form", "action", "save", "params.title", "")
	got := author.post(address, filled)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find(".problem").Text(), "Block 1: kubernetesVersion needs a title.")
	filled.Set("params.title", "Kubernetes version")
	got = author.post(address, filled)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Find(".problem").Text())
	page := author.get(got.Header.Get("Location") + "/edit")
	require.Equal(t, "# Ours.\n- key: kubernetesVersion\n  type: string\n  title: Kubernetes version\n  default: \"1.37\"\n- key: hosts\n  title: Hosts\n  optional: true\n  catalog: hosts\n  minItems: 1\n  maxItems: 2\n",
		page.Find("textarea[name=params]").Text())
}
