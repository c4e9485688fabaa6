package gallery_test

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// held keeps the page's next request back until the test lets it go, as a slow network would, and tells
// when its answer has been dealt with.
const held = `(() => {
	const send = XMLHttpRequest.prototype.send;
	window.letGo = window.ended = undefined;
	XMLHttpRequest.prototype.send = function (...body) {
		XMLHttpRequest.prototype.send = send;
		let calledOff = false;
		this.abort = () => { calledOff = true; }; // what is not sent yet cannot be aborted
		this.addEventListener("loadend", () => setTimeout(() => { window.ended = true; }));
		window.letGo = () => {
			if (calledOff) window.ended = true;
			else send.apply(this, body);
		};
	};
	return true;
})()`

// TestTheNewestRequestWins lets the answer to an older click, filter or step back come after the newer
// page: neither the page nor the address may be the older one's.
func TestTheNewestRequestWins(t *testing.T) {
	tab, _, said := browser(t, time.Hour)
	server := httptest.NewServer(product(t))
	t.Cleanup(server.Close)
	const clusters, templates, tasks, archive = "/workspaces/payments/clusters", "/workspaces/payments/templates", "/workspaces/payments/tasks", "/workspaces/payments/archive"
	step := func(what string, actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(tab, actions...), what)
	}
	at := func(address, title string) chromedp.Action[chromedp.Void] {
		return until(fmt.Sprintf(`location.pathname === %q && document.querySelector("main h1").textContent.startsWith(%q) && document.documentElement.dataset.script === ""`, address, title))
	}
	side := func(address string) chromedp.Action[chromedp.Void] {
		return press(fmt.Sprintf("#side a[href='%s']", address))
	}
	// The title has the focus once the page has settled and its links are listened to.
	const settled = `document.activeElement === document.querySelector("main h1")`
	// stays lets the older answer go: when it has come to its end, the newer page still stands there.
	stays := func(what, address, title string) {
		t.Helper()
		step(what, at(address, title), until(`(window.letGo(), true)`), until(`window.ended`))
		found, err := chromedp.Run(tab, chromedp.Evaluate[string](`location.pathname + location.search + " " + document.querySelector("main h1").textContent.trim() + " " + document.querySelectorAll("#main").length`))
		require.NoError(t, err)
		require.Equal(t, address+" "+title+" 1", found, what)
	}

	step("a column of the list of workspaces", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(server.URL+"/"), at("/", "Workspaces"), until(held),
		press("#list thead a"), until(`window.letGo`), press("#list tbody a"))
	stays("and a workspace", clusters, "Clusters")

	step("a filter", chromedp.Navigate(server.URL+templates), at(templates, "Templates"), until(held),
		chromedp.SendKeys(chromedp.CSS("[data-filter]"), "x"), until(`window.letGo`), side(clusters))
	stays("and a link", clusters, "Clusters")

	step("a link", side(templates), at(templates, "Templates"), until(settled), until(held), side(tasks), until(`window.letGo`),
		until(`(history.back(), true)`))
	stays("and a step back", clusters, "Clusters")

	step("a step back", side(templates), at(templates, "Templates"), until(settled), until(held), until(`(history.back(), true)`), until(`window.letGo`),
		side(archive))
	stays("and a link", archive, "Archive")
	for _, s := range said() {
		require.Regexp(t, `closed before the connection is established|\[object Event\]`, s)
	}
}

// TestAListAsksForItselfAgain waits for the message that the list of objects is another one.
func TestAListAsksForItselfAgain(t *testing.T) {
	tab, address, _ := browser(t, 100*time.Millisecond)
	require.NoError(t, chromedp.Do(tab,
		chromedp.Navigate(address+"/gallery/kubernetes?q=x"),
		until(`document.querySelector("#list") && (window.old ??= document.querySelector("#list"))`),
		until(`!window.old.isConnected && document.querySelectorAll("#list tbody tr").length === 4`),
		until(`location.search === "?q=x" && document.querySelectorAll("#main, .topbar").length === 2`),
	))
}
