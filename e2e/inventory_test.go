package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// machinesTemplate asks for records of a catalog: one that is picked, and some.
const machinesTemplate = `apiVersion: commander.io/v1
kind: ClusterTemplate
name: NAME
versions:
  - parameters: |
      - {key: master, title: Master, catalog: SLUG, autoselect: true, span: 2}
      - {key: workers, title: Workers, catalog: SLUG, minItems: 1, maxItems: 3, span: 4}
    clusterConfiguration: |
      apiVersion: deckhouse.io/v1
      kind: ClusterConfiguration
      clusterType: Cloud
      master: {{ .master.address }}
      workers: {{ len .workers }}
`

// put replaces what a control holds at once: a page that has just come moves the focus, and keys that
// are typed within that moment go elsewhere.
func (b *browser) put(selector, text string) {
	b.t.Helper()
	b.until(selector+" is there", fmt.Sprintf("document.querySelector(%q)", selector))
	b.do("fill "+selector, chromedp.SetValue(selector, text))
}

// importTemplate pastes the text of a template.
func (b *browser) importTemplate(name, slug string) {
	b.t.Helper()
	b.open(shared.url + "/workspaces/demo/templates/import")
	text := strings.NewReplacer("NAME", name, "SLUG", slug).Replace(machinesTemplate)
	b.put("[name=text]", text)
	b.press("Import")
	b.until("the template's page is there", `!location.pathname.endsWith("/import")`)
}

// addRecord fills the form of a new record.
func (b *browser) addRecord(address string) {
	b.t.Helper()
	b.press("Add record")
	b.put("[name='values.address']", address)
	b.press("Save record")
	b.until("the record is listed", visible("tbody th a", address))
}

// TestInventoryAndItsCluster is the work of an inventory keeper and of who makes a cluster of the
// records: by the keyboard where lists are long, with the YAML beside the form.
func TestInventoryAndItsCluster(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, 6*time.Minute)
	b.signIn("admin@example.com", shared.admin)
	b.open(shared.url + "/workspaces/demo/inventory/new")
	b.fill("[name=name]", "Machines")
	b.fill("[name=slug]", "machines")
	js[bool](b, "window.notReloaded = true")
	b.do("open the block", chromedp.Click("#builder-open-0"))
	b.until("the block is open", `document.querySelector(".opened [name='params.key']")`)
	b.put("[name='params.key']", "address")
	b.put("[name='params.title']", "Address")
	b.put("[name='params.format']", "ipv4")
	b.press("Apply")
	b.until("the block is closed", `!document.querySelector(".opened") && document.querySelector(".brick")?.textContent.includes("ipv4")`)
	if !js[bool](b, `window.notReloaded && document.querySelector("[name=name]").value === "Machines"`) {
		t.Error("the builder touched the rest of the form")
	}
	b.picture("catalog-builder")
	b.press("Save catalog")
	b.until("the catalog's page is there", `document.querySelector("h1")?.textContent.includes("Machines")`)
	for _, address := range []string{"10.20.0.1", "10.20.0.2", "10.20.0.3"} {
		b.addRecord(address)
	}
	b.picture("catalog")

	b.importTemplate("Machines", "machines")
	b.open(shared.url + "/workspaces/demo/clusters/new")
	b.press("Machines")
	b.fill("[name=name]", "of-machines")
	b.until("a free record fills the field", `document.querySelector("[name='values.master']").selectedOptions[0].textContent.includes("10.20.0.1")`)
	const first = `[data-side=off] li input`
	b.do("go to the list", chromedp.Focus(first))
	b.do("choose by the keyboard", chromedp.SendKeys(first, kb.ArrowDown+" "))
	b.until("the second choice is chosen", visible("[data-side=on] li", "10.20.0.2"))
	b.until("the YAML follows", `document.querySelector("#preview").textContent.includes("workers: 1")`)
	if !js[bool](b, `document.activeElement.closest("[data-side=off]") !== null`) {
		t.Error("the keyboard lost its place in the list")
	}
	b.press("Choose all")
	b.until("the YAML follows", `document.querySelector("#preview").textContent.includes("workers: 3")`)
	if js[int](b, `document.querySelectorAll("[data-side=off] li").length`) != 0 {
		t.Error("something is left to choose")
	}
	b.picture("cluster-of-records")
	b.press("Save without installing")
	b.until("the cluster's page is there", `/^\/clusters\/[^/]+$/.test(location.pathname)`)

	b.open(shared.url + "/workspaces/demo/clusters/new")
	b.press("Machines")
	b.until("the form says who has the records", `document.querySelector("[name='values.master']")?.textContent.includes("taken by of-machines")`)
	if said := b.complaints(); len(said) > 0 {
		t.Errorf("the browser complained: %q", said)
	}
}

// TestInventoryWithoutScripts does the same in a browser that runs no scripts.
func TestInventoryWithoutScripts(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, 6*time.Minute)
	b.do("run no scripts", chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.signIn("admin@example.com", shared.admin)
	b.open(shared.url + "/workspaces/demo/inventory/new")
	b.fill("[name=name]", "Plain machines")
	b.fill("[name=slug]", "plain")
	b.press("Add a header")
	b.put("[name='params.header']", "Network")
	b.do("open the field", chromedp.Click("#builder-open-0"))
	b.until("the header was applied", visible(".brick", "Network"))
	b.put("[name='params.key']", "address")
	b.put("[name='params.title']", "Address")
	b.press("Save catalog")
	b.until("the catalog's page is there", `document.querySelector("h1")?.textContent.includes("Plain machines")`)
	b.addRecord("10.30.0.1")
	b.addRecord("10.30.0.2")

	b.importTemplate("Plain machines", "plain")
	b.open(shared.url + "/workspaces/demo/clusters/new")
	b.press("Plain machines")
	b.fill("[name=name]", "of-plain-machines")
	b.do("choose a record", chromedp.Click("[data-side=off] li:nth-child(2) input"))
	b.press("Refresh")
	b.until("the YAML of what was typed", `document.querySelector("#preview").textContent.includes("workers: 1")`)
	b.until("the choice is in the other list", visible("[data-side=on] li", "10.30.0.2"))
	b.press("Save without installing")
	b.until("the cluster's page is there", `/^\/clusters\/[^/]+$/.test(location.pathname)`)
	if said := b.complaints(); len(said) > 0 {
		t.Errorf("the browser complained: %q", said)
	}
}
