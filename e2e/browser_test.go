package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is one tab of a real Chromium.
type browser struct {
	t   *testing.T
	tab context.Context

	mu   sync.Mutex // protects said
	said []string
}

// screenshots names a folder for pictures of each step.
const screenshots = "E2E_SCREENSHOTS"

func newBrowser(t *testing.T, bound time.Duration) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("ignore-certificate-errors", true), chromedp.WindowSize(1280, 900))
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("start Chromium (make test-deps installs it): %v", err)
	}
	limited, cancel := context.WithTimeout(tab, bound)
	t.Cleanup(cancel)
	b := &browser{t: t, tab: limited}
	if err := chromedp.Listen(limited, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

// hear keeps what the browser complains of: scripts that fail, and breaches of the policy.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			b.said = append(b.said, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, e.ExceptionDetails.Text)
	case *page.EventJavascriptDialogOpening:
		if strings.Contains(e.Message, "not saved") { // the question of a form that is left: it is meant
			go func() {
				_, _ = chromedp.Call(b.tab, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}()
			return
		}
		b.said = append(b.said, "dialog: "+e.Message)
	}
}

// complaints are what the browser said, except of sockets that were cut on purpose and of forms
// that were refused on purpose.
func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, text := range b.said {
		meant := slices.ContainsFunc([]string{"WebSocket", "ERR_CONNECTION", "status of 422"}, func(part string) bool { return strings.Contains(text, part) })
		if !meant {
			out = append(out, text)
		}
	}
	return out
}

// stepBound is how long one act of a person may take.
const stepBound = 30 * time.Second

// do is one act of a person.
func (b *browser) do(what string, act chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.tab, stepBound)
	defer cancel()
	if err := chromedp.Do(ctx, act); err != nil {
		b.fail("%s: %v", what, err)
	}
}

func (b *browser) open(url string) {
	b.t.Helper()
	err := chromedp.Do(b.tab, chromedp.Navigate(url))
	if err != nil && strings.Contains(err.Error(), "ERR_NETWORK_CHANGED") {
		err = chromedp.Do(b.tab, chromedp.Navigate(url)) // a container came or went on this machine
	}
	if err != nil {
		b.fail("open %s: %v", url, err)
	}
}

// js evaluates an expression.
func js[T any](b *browser, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.tab, chromedp.Evaluate[T](expression))
	if err != nil {
		b.fail("evaluate %s: %v", expression, err)
	}
	return value
}

// until waits for an expression to be true.
func (b *browser) until(what, expression string) {
	b.t.Helper()
	const bound = 60 * time.Second
	ctx, cancel := context.WithTimeout(b.tab, bound)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && ok {
			return
		}
		select {
		case <-ctx.Done():
			b.fail("waited %s in vain until %s (last: %v)", bound, what, err)
		case <-tick.C:
		}
	}
}

// visible is an expression for the first element with the selector that has the text and is shown.
func visible(selector, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].find(e => e.checkVisibility() && e.textContent.trim().includes(%q))`, selector, text)
}

// press clicks the control with the text, as a person would, in the middle of it. A live page may
// draw the control anew between looking and clicking: then it is looked for again.
func (b *browser) press(text string) {
	b.t.Helper()
	const controls = "a, button, input[type=submit], summary"
	const tries = 10
	for try := 1; ; try++ {
		b.until("there is "+text, visible(controls, text))
		js[bool](b, visible(controls, text)+`?.setAttribute("data-e2e", "here") ?? true`)
		ctx, cancel := context.WithTimeout(b.tab, stepBound/tries)
		err := chromedp.Do(ctx, chromedp.Click(`[data-e2e=here]`))
		cancel()
		if err == nil {
			break
		}
		if try == tries {
			b.fail("press %q: %v", text, err)
		}
	}
	js[bool](b, `document.querySelector("[data-e2e=here]")?.removeAttribute("data-e2e") ?? true`)
}

// fill replaces what is typed in a control.
func (b *browser) fill(selector, text string) {
	b.t.Helper()
	b.until(selector+" is there", fmt.Sprintf("document.querySelector(%q)", selector))
	js[bool](b, fmt.Sprintf("(document.querySelector(%q).select?.(), true)", selector))
	b.do("type into "+selector, chromedp.SendKeys(selector, text))
}

func (b *browser) sees(text string) {
	b.t.Helper()
	b.until("the page says "+text, fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// ends waits until the task on the page has a status.
func (b *browser) ends(status string) {
	b.t.Helper()
	b.until("the task is "+status, visible("main .head .chip", status))
}

func (b *browser) location() string { return js[string](b, "location.pathname") }

// picture keeps a screenshot of a step when somebody wants it.
func (b *browser) picture(name string) {
	folder := os.Getenv(screenshots)
	if folder == "" {
		return
	}
	image, err := chromedp.Run(b.tab, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), image, 0o600)
	}
	if err != nil {
		b.t.Logf("picture %s: %v", name, err)
	}
}

func (b *browser) fail(format string, args ...any) {
	b.t.Helper()
	text, _ := chromedp.Run(b.tab, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
	b.picture("failure")
	b.t.Fatalf("%s\nthe page:\n%s\nthe browser said: %q", fmt.Sprintf(format, args...), text, b.complaints())
}

// signIn goes through Dex.
func (b *browser) signIn(email, password string) {
	b.t.Helper()
	b.open(shared.url + "/")
	b.picture("sign-in")
	b.press("Sign in")
	b.fill("#login", email)
	b.fill("#password", password)
	b.press("Login")
	b.until("the sign-in led back", fmt.Sprintf("location.href.startsWith(%q)", shared.url))
}
