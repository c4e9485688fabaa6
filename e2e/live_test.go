package e2e

import (
	"net/http"
	"testing"
	"time"
)

// held keeps the page's next request back until the test lets it go, as a slow network would.
const held = `(() => {
	const send = XMLHttpRequest.prototype.send;
	XMLHttpRequest.prototype.send = function (...body) {
		XMLHttpRequest.prototype.send = send;
		window.letGo = () => send.apply(this, body);
	};
	return true;
})()`

// TestLiveUpdatesUnderRequests looks at what a person gets who clicks or types just before what was
// clicked or is filtered is drawn anew: the page that was asked for, once, at its own address.
func TestLiveUpdatesUnderRequests(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, 4*time.Minute)
	b.signIn("admin@example.com", shared.admin)
	b.press("Demo")
	b.press("Create cluster")
	b.until("templates are offered", visible("main h1", "Choose a template"))
	b.press("Lab")
	b.fill("[name=name]", "moving")
	b.press("Save without installing")
	b.until("the cluster's page is there", `location.pathname.startsWith("/clusters/")`)
	page := b.location()
	id := page[len("/clusters/"):]
	const list = "/workspaces/demo/clusters?q=moving"

	mark := func(value string) {
		t.Helper()
		js[bool](b, `(window.old = document.querySelector("#cluster-list tbody tr"), true)`)
		if _, err := call(t.Context(), shared.token, http.MethodPatch, "/clusters/"+id, map[string]any{"labels": map[string]string{"mark": value}}, nil); err != nil {
			t.Fatal(err)
		}
		b.until("the row is drawn anew", `!window.old.isConnected`)
	}

	b.open(shared.url + list)
	b.until("updates come", visible("#connection", "Live"))
	js[bool](b, held)
	b.press("moving")
	b.until("the page is asked for", `window.letGo`)
	mark("clicked")
	js[bool](b, `(window.letGo(), true)`)
	b.until("the cluster's page is there", visible("main h1", "moving"))
	if pages := js[int](b, `document.querySelectorAll("header.topbar, #main").length`); pages != 2 {
		t.Errorf("%d headers and bodies stand on the page, want one of each", pages)
	}
	if at := b.location(); at != page {
		t.Errorf("the page's address is %s, want %s", at, page)
	}

	b.open(shared.url + list)
	b.until("updates come", visible("#connection", "Live"))
	js[bool](b, held)
	b.fill("[data-filter]", "nothing-of-that-name")
	b.until("the filter is asked for", `window.letGo`)
	js[bool](b, `(window.table = document.querySelector("#cluster-list"), true)`)
	// A cluster that is new to a list makes the whole list come anew.
	js[bool](b, `(window.table.replaceWith(window.table.cloneNode(true)), window.letGo(), true)`)
	b.until("the filtered list is shown", `!document.querySelector("#cluster-list tbody tr")`)
	if said := b.complaints(); len(said) > 0 {
		t.Errorf("the browser complained: %q", said)
	}
}
