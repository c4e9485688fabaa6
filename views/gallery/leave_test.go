package gallery_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"commander/views/paths"
)

// TestWhatWasTypedIsNotLeftUnasked types into the form of a cluster and leaves it by a link and by
// going back, refusing first. Sending the form asks nothing, though it is refused.
func TestWhatWasTypedIsNotLeftUnasked(t *testing.T) {
	tab, _, _ := browser(t, time.Hour)
	server := httptest.NewServer(product(t))
	t.Cleanup(server.Close)
	do := func(what string, actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(tab, actions...), what)
	}
	script := func(text string) chromedp.Action[chromedp.Void] { return chromedp.Evaluate[chromedp.Void](text) }
	const asked, list = `window.asked === 1 && (window.asked = 0) === 0`, `document.querySelector("h1").textContent === "Clusters" && document.activeElement === document.querySelector("h1")`
	do("open the form from the list", chromedp.Navigate(server.URL+paths.Clusters("payments")),
		until(`document.documentElement.dataset.script === ""`),
		script(`window.asked = 0; window.answer = false; window.confirm = () => { window.asked++; return window.answer; }`),
		press("[data-create]"), until(`document.querySelector(".choices a") && document.activeElement === document.querySelector("h1")`),
		press(".choices a"), until(`document.querySelector("#cluster-form") && document.activeElement === document.querySelector("h1")`))
	do("leave an untouched form", press("#side a[href$='/clusters']"), until(list), until(`window.asked === 0`))
	do("type, and do not leave after all",
		press("[data-create]"), until(`document.querySelector(".choices a") && document.activeElement === document.querySelector("h1")`),
		press(".choices a"), until(`document.querySelector("#cluster-form") && document.activeElement === document.querySelector("h1")`),
		script(`document.querySelector("#f-name").value = ""`), chromedp.SendKeys(chromedp.CSS("#f-name"), "mine"),
		press("#side a[href$='/clusters']"), until(asked), until(`document.querySelector("#f-name").value === "mine"`))
	do("nor by going back", script(`window.history.back()`), until(asked),
		until(`location.search === "?template=t1" && document.querySelector("#f-name").value === "mine"`))
	do("send what is refused", press(`button[value=install]`), until(`document.querySelector("#main [role=alert]")`), until(`window.asked === 0`))
	do("it is still not saved", press("#side a[href$='/clusters']"), until(asked), until(`document.querySelector("#cluster-form")`))
	do("leave", script(`window.answer = true`), press("#side a[href$='/clusters']"), until(list), until(asked))
	do("nothing is left to ask for", press("[data-create]"), until(`document.querySelector(".choices a") && document.activeElement === document.querySelector("h1")`), until(`window.asked === 0`))
}
