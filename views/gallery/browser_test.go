package gallery_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"commander/views/gallery"
)

// bundle is where `make assets` leaves what the pages load.
const bundle = "../../web/assets/dist"

// screenshots names a folder that pictures of all pages go to, when it is set.
const screenshots = "GALLERY_SCREENSHOTS"

// browser starts Chromium and the gallery, and gives the gallery's address and what the console said.
func browser(t *testing.T, beat time.Duration) (context.Context, string, func() []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser is started only without -short")
	}
	for _, script := range []string{"app.js", "editor.js"} {
		_, err := os.Stat(filepath.Join(bundle, script))
		require.NoError(t, err, "the bundle is missing or old: run `make assets`")
	}
	server := httptest.NewServer(gallery.Handler(bundle, beat))
	t.Cleanup(server.Close)

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("disable-component-update", true))
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	// The first call starts the browser, which lives as long as this context: the limit comes after it.
	require.NoError(t, chromedp.Do(tab, chromedp.Navigate("about:blank")), "start Chromium (`make test-deps` installs it)")
	limited, cancel := context.WithTimeout(tab, 4*time.Minute)
	t.Cleanup(cancel)
	tab = limited

	var mu sync.Mutex // guards said
	var said []string
	require.NoError(t, chromedp.Listen(tab, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			said = append(said, e.Entry.Text)
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text + " at " + e.ExceptionDetails.URL
			if thrown := e.ExceptionDetails.Exception; thrown != nil {
				text += ": " + thrown.Description
			}
			said = append(said, text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == "error" {
				said = append(said, fmt.Sprint("console.error: ", string(e.Args[0].Value)))
			}
		}
	}))
	return tab, server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return said
	}
}

// outside lists what sticks out of the window and cannot be scrolled to inside a part of its own.
const outside = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&
	!e.closest(".filters, .tabs, .yaml, .diff, .sides, .log, .side, .away, .table, [popover], dialog, template, details:not([open]) > :not(summary)")).map(e => e.tagName + "." + e.className)`

// squeezed lists the heads of rows that their neighbours have left no room for.
const squeezed = `[...document.querySelectorAll("main tbody th")].filter(e => e.checkVisibility() && e.clientHeight > 2 * e.clientWidth).map(e => e.textContent.trim())`

// unseen lists the links of the page that is open, or of its place, that a bar which scrolls sideways hides.
const unseen = `[...document.querySelectorAll(":is(.side, .tabs) [aria-current]")].filter(e => {
	const [bar, link] = [e.closest(".side, .tabs").getBoundingClientRect(), e.getBoundingClientRect()]
	return link.left < bar.left - 1 || link.right > bar.right + 1
}).map(e => e.textContent.trim())`

func TestPagesFitEveryScreenAndObeyThePolicy(t *testing.T) {
	tab, address, said := browser(t, time.Hour)
	for _, look := range []struct {
		width, height int64
		query         string
	}{
		{360, 780, "lang=en"},
		{360, 780, "lang=ru&theme=dark"},
		{1280, 800, "lang=en&theme=dark"},
		{1280, 800, "lang=ru"},
	} {
		for _, e := range gallery.Exhibits() {
			if e.Name == "messages" {
				continue // fragments that are no page
			}
			require.NoError(t, chromedp.Do(tab,
				chromedp.EmulateViewport(look.width, look.height),
				chromedp.Navigate(address+"/gallery/"+e.Name+"?"+look.query),
				until(`document.documentElement.dataset.script === ""`),
			), e.Name)
			width, err := chromedp.Run(tab, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
			require.NoError(t, err)
			require.LessOrEqual(t, width, look.width, "%s scrolls sideways with %s", e.Name, look.query)
			out, err := chromedp.Run(tab, chromedp.Evaluate[[]string](outside))
			require.NoError(t, err)
			require.Empty(t, out, "%s with %s at %d", e.Name, look.query, look.width)
			thin, err := chromedp.Run(tab, chromedp.Evaluate[[]string](squeezed))
			require.NoError(t, err)
			require.Empty(t, thin, "%s with %s at %d cannot be read", e.Name, look.query, look.width)
			hidden, err := chromedp.Run(tab, chromedp.Evaluate[[]string](unseen))
			require.NoError(t, err)
			require.Empty(t, hidden, "%s with %s at %d does not show where it is", e.Name, look.query, look.width)
			if folder := os.Getenv(screenshots); folder != "" {
				picture, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
				require.NoError(t, err)
				name := fmt.Sprintf("%s-%d-%s.png", e.Name, look.width, strings.NewReplacer("=", "-", "&", "-").Replace(look.query))
				require.NoError(t, os.WriteFile(filepath.Join(folder, name), picture, 0o600))
			}
		}
	}
	require.Empty(t, said())
}

func TestATextIsEditedWhenItsEditorDoesNotCome(t *testing.T) {
	tab, address, said := browser(t, time.Hour)
	_, err := chromedp.Call(tab, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(tab, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: address + "/assets/editor.js", Block: true}}})
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(tab,
		chromedp.Navigate(address+"/gallery/template-edit"),
		until(`document.readyState === "complete"`),
		until(`document.querySelector("textarea[data-yaml]").checkVisibility() && !document.querySelector(".yaml-editor")`),
	))
	// The page asked before; a task later it would have complained.
	came, err := chromedp.Run(tab, chromedp.Evaluate[bool](`import("/assets/editor.js").then(() => true, () => new Promise((done) => setTimeout(done, 0, false)))`, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	require.False(t, came, "the editor came all the same")
	require.Empty(t, said())
}

func TestALogDropsTheLinesItHas(t *testing.T) {
	tab, address, said := browser(t, time.Millisecond)
	require.NoError(t, chromedp.Do(tab,
		chromedp.Navigate(address+"/gallery/task"),
		// The course ends with the task's success.
		until(`document.querySelector("h1 + .chips .chip").dataset.tone === "good"`),
		until(`!document.querySelector("[data-first-error]").hidden`),
		until(`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 24)(document.querySelector(".log"))`),
		press(`[data-first-error]`),
		until(`document.querySelector(".log .at")`),
		until(`document.querySelector("[data-follow]").getAttribute("aria-pressed") === "false"`),
	))
	numbers, err := chromedp.Run(tab, chromedp.Evaluate[[]int](`[...document.querySelectorAll(".log li")].map(l => Number(l.dataset.n))`))
	require.NoError(t, err)
	require.Len(t, numbers, 60)
	for i, n := range numbers {
		require.Equal(t, i+1, n)
	}
	require.Empty(t, said(), "what a page has no room for is no error")
}

func TestARowChangesInPlaceAndSaysSo(t *testing.T) {
	tab, address, _ := browser(t, time.Millisecond)
	require.NoError(t, chromedp.Do(tab,
		chromedp.Navigate(address+"/gallery/clusters"),
		until(`document.querySelector("#cluster-c2-row.changed .chip")?.dataset.tone === "good"`),
		until(`document.querySelector("#said").textContent === "payments-prod-2: Ready"`),
		until(`document.querySelector("#connection").textContent === "Live"`),
	))
}

func TestChosenRowsStayChosen(t *testing.T) {
	tab, address, _ := browser(t, 300*time.Millisecond)
	require.NoError(t, chromedp.Do(tab,
		chromedp.Navigate(address+"/gallery/clusters"),
		until(`document.documentElement.dataset.script === "" && getComputedStyle(document.querySelector("#bulk")).display === "none"`),
		press(`[name=cluster][value=c2]`),
		until(`getComputedStyle(document.querySelector("#bulk")).display === "flex"`),
		until(`document.querySelector("[data-picked]").textContent === "1 chosen"`),
		// The row comes anew over the socket.
		until(`document.querySelector("#cluster-c2-row.changed .chip")?.dataset.tone === "good"`),
		until(`document.querySelector("[name=cluster][value=c2]").checked`),
		press(`[data-pick-all]`),
		until(`document.querySelector("[data-picked]").textContent === "7 chosen"`),
		press(`#cluster-filters summary`),
		until(`document.querySelector(".drop[open] a").checkVisibility()`),
		chromedp.KeyEvent("\u001b"),
		until(`!document.querySelector(".drop[open]") && document.activeElement.matches("summary")`),
	))
}

func TestThePaletteIsWalkedByKeys(t *testing.T) {
	tab, address, _ := browser(t, time.Hour)
	chosen := `document.querySelector("#palette-list [aria-selected=true]")?.textContent ?? ""`
	require.NoError(t, chromedp.Do(tab,
		chromedp.Navigate(address+"/gallery/clusters"),
		until(`document.documentElement.dataset.script === ""`),
		chromedp.Evaluate[chromedp.Void](`document.body.dispatchEvent(new KeyboardEvent("keydown", {code: "KeyK", key: "k", ctrlKey: true, bubbles: true}))`),
		until(`document.querySelector("#palette[open]") && document.activeElement.id === "palette-text"`),
		until(`(`+chosen+`).includes("payments-prod-1")`),
		chromedp.Evaluate[chromedp.Void](`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}))`),
		until(`(`+chosen+`).includes("payments-prod-2")`),
		until(`document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent.includes("payments-prod-2")`),
		chromedp.Evaluate[chromedp.Void](`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowUp", bubbles: true}))`),
		until(`(`+chosen+`).includes("payments-prod-1")`),
		press(`.palette [role=option]`),
		until(`!document.querySelector("#palette[open]")`),
	))
}

func TestTheKeyboardGoesPlaces(t *testing.T) {
	tab, address, _ := browser(t, time.Hour)
	require.NoError(t, chromedp.Do(tab,
		chromedp.Navigate(address+"/gallery/clusters"),
		until(`document.documentElement.dataset.script === ""`),
		chromedp.KeyEvent("?"),
		until(`document.querySelector("#keys[open]")`),
		press(`#keys button`),
		until(`!document.querySelector("#keys[open]")`),
		chromedp.KeyEvent("/"),
		until(`document.activeElement.matches("[data-filter]")`),
		// Letters that are typed are letters. (The driver types the slash in spite of the script.)
		chromedp.KeyEvent("c?"),
		until(`document.activeElement.value.endsWith("c?") && !document.querySelector("#keys[open]")`),
		// The same keys in the Russian layout.
		chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`),
		chromedp.Evaluate[chromedp.Void](`document.body.dispatchEvent(new KeyboardEvent("keydown", {code: "Slash", key: ",", shiftKey: true, bubbles: true}))`),
		until(`document.querySelector("#keys[open]")`),
		press(`#keys button`),
		chromedp.Evaluate[chromedp.Void](`document.body.dispatchEvent(new KeyboardEvent("keydown", {code: "Slash", key: ".", bubbles: true}))`),
		until(`document.activeElement.matches("[data-filter]")`),
		chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`),
		chromedp.Evaluate[chromedp.Void](`addEventListener("click", (e) => { window.went = e.target.dataset.go; e.preventDefault(); }, true)`),
		chromedp.Evaluate[chromedp.Void](`for (const [code, key] of [["KeyG", "п"], ["KeyT", "е"]]) document.body.dispatchEvent(new KeyboardEvent("keydown", {code, key, bubbles: true}))`),
		until(`window.went === "t"`),
	))
}

// until waits for an expression to become true. It asks the page that is there at the moment, so
// that it outlives a navigation.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		again := time.NewTicker(10 * time.Millisecond)
		defer again.Stop()
		for {
			// An error is a page that is only just coming; the next one may be there.
			yes, err := chromedp.Evaluate[bool]("Boolean("+expression+")")(ctx, target)
			if err == nil && yes {
				return nil
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("wait for %s: %w", expression, errors.Join(ctx.Err(), err))
			case <-again.C:
			}
		}
	})
}

// press clicks what a selector finds.
func press(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}
