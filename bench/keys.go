package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5/pgxpool"

	"commander/store"
	"commander/views/paths"
	"commander/web/session"
)

// watch makes a page tell, in milliseconds, how long it takes from the next key until what the key
// changed below a node is painted: the frame after the change has been drawn when a message that was
// sent at its beginning arrives.
const watch = `window.watch = (node, changed) => {
	let began, ready;
	window.took = new Promise((done) => { ready = done; });
	addEventListener("keydown", (event) => { began = event.timeStamp; }, {capture: true, once: true});
	const observer = new MutationObserver((records) => {
		if (!began || !records.some(changed)) return;
		observer.disconnect();
		requestAnimationFrame(() => {
			const after = new MessageChannel();
			after.port1.onmessage = () => ready(performance.now() - began);
			after.port2.postMessage(0);
		});
	});
	observer.observe(node, {childList: true, subtree: true, characterData: true});
}`

// The rows are swapped as a whole; a typed character is a change of the text in the editor's shadow.
const (
	watchRows   = `watch(document.body, (r) => [...r.addedNodes].some((n) => n.id === "cluster-list"))`
	watchEditor = `watch(document.querySelector(".yaml-editor").shadowRoot.querySelector(".cm-content"), () => true)`
)

// typedWords are typed into the filter letter by letter, and taken out again.
var typedWords = []string{"pay-prod", "search", "1.36", "env=test", "ml-stage-1", "no-such"}

// largeText is how long the YAML is that the editor is tried with, in bytes.
const largeText = 1 << 20

// keys measures in Chromium how long people wait for what they type: rows of the list of many
// clusters, and characters in a large text.
func (b *bench) keys(ctx context.Context) (figures []figure, err error) {
	s, err := b.theSite(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := s.fill(ctx, 50)
	if err != nil {
		return nil, err
	}
	pool, err := store.Connect(ctx, s.url, 2)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if err := s.many(ctx, pool); err != nil {
		return nil, err
	}
	ours, _, err := s.ready(ctx, s.pages)
	defer end(ours, &err)
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("ignore-certificate-errors", true))
	allocator, cancel := chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	tab, cancel := chromedp.NewContext(allocator)
	defer cancel()
	address, yes := "https://localhost:"+fmt.Sprint(ours.port), true
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		return nil, fmt.Errorf("start Chromium: %w", err)
	}
	if _, err := chromedp.Call(tab, network.SetCookie, network.SetCookieParams{Name: session.Cookie, Value: secret, URL: address, Path: "/", Secure: &yes}); err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	rows, err := typeInFilter(tab, address+paths.Clusters(workspace), b.Keys)
	if err != nil {
		return nil, err
	}
	characters, tries, err := typeInEditor(tab, address+paths.NewTemplate(workspace), b.Keys)
	if err != nil {
		return nil, err
	}
	return []figure{
		{what: fmt.Sprintf("from a key in the filter to painted rows, %d clusters, Chromium", b.Many), samples: rows, unit: milliseconds, goal: fmt.Sprintf("p95 ≤ 100 ms; here %s", milliseconds(rows.at(.95)))},
		{what: "from a key to the painted character in a YAML of 1 MiB", samples: characters, unit: milliseconds, goal: "p95 " + milliseconds(characters.at(.95))},
		{what: "the template with that text tried by the server, while one types on", samples: tries, unit: milliseconds},
	}, nil
}

// pages starts the roles that people meet. The one that looks after clusters would start a connector
// for each of many.
func (s *site) pages(port int) (*child, error) { return s.commander(port, "--roles=web,live") }

// many fills the list up to the wanted count, once.
func (s *site) many(ctx context.Context, pool *pgxpool.Pool) error {
	return multiply(ctx, pool, s.bench.Many)
}

func typeInFilter(tab context.Context, address string, keys int) (samples, error) {
	var times samples
	if err := chromedp.Do(tab, chromedp.Navigate(address), settled(`document.querySelector("[data-filter]")`), script(watch), script(`document.querySelector("[data-filter]").focus()`)); err != nil {
		return nil, fmt.Errorf("open the list: %w", err)
	}
	for n := 0; len(times) < keys; n++ {
		word := typedWords[n%len(typedWords)]
		for _, key := range word + strings.Repeat("\b", len(word)) {
			took, err := press(tab, watchRows, string(key))
			if err != nil {
				return nil, fmt.Errorf("type %q of %q: %w", key, word, err)
			}
			times.addTime(took)
		}
	}
	return times, nil
}

func typeInEditor(tab context.Context, address string, keys int) (characters, tries samples, err error) {
	const row = "      - {name: somebody, address: 10.0.0.1, roles: [reader, writer]} # a line of an ordinary length\n"
	text := "kind: ConfigMap\nmetadata:\n  name: large\ndata:\n  people:\n" + strings.Repeat(row, largeText/len(row))
	const editor = `document.querySelector(".yaml-editor[data-ready]")`
	if err := chromedp.Do(tab, chromedp.Navigate(address), settled(editor), script(watch), script(editor+`.shadowRoot.querySelector(".cm-content").focus()`)); err != nil {
		return nil, nil, fmt.Errorf("open the editor: %w", err)
	}
	if _, err := chromedp.Call(tab, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		return nil, nil, fmt.Errorf("put in a large text: %w", err)
	}
	const tried = `performance.getEntriesByType("resource").filter((e) => e.initiatorType === "xmlhttprequest")`
	if err := chromedp.Do(tab, settled(tried+`.length > 0`), script(`performance.setResourceTimingBufferSize(10000)`)); err != nil {
		return nil, nil, fmt.Errorf("try a large text: %w", err)
	}
	for range keys {
		took, err := press(tab, watchEditor, "x")
		if err != nil {
			return nil, nil, fmt.Errorf("type into a large text: %w", err)
		}
		characters.addTime(took)
	}
	if err := chromedp.Do(tab, settled(tried+`.length > 1`)); err != nil {
		return nil, nil, fmt.Errorf("try a large text again: %w", err)
	}
	times, err := chromedp.Run(tab, chromedp.Evaluate[[]float64](tried+`.map((e) => e.duration)`))
	for _, t := range times {
		tries = append(tries, t/1e3)
	}
	return characters, tries, err
}

// press types one key and waits until what it changes is painted.
func press(tab context.Context, watched, key string) (time.Duration, error) {
	limited, cancel := context.WithTimeout(tab, time.Minute)
	defer cancel()
	if err := chromedp.Do(limited, script(watched), chromedp.KeyEvent(key)); err != nil {
		return 0, err
	}
	took, err := chromedp.Run(limited, chromedp.Evaluate[float64](`took`, chromedp.EvalAwaitPromise))
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("nothing was painted: %w", err)
	}
	return time.Duration(took * float64(time.Millisecond)), err
}

func script(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](text + "; undefined")
}

// settled waits for something in a page whose scripts run.
func settled(condition string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](`document.documentElement.dataset.script === "" && !!(` + condition + `)`)
}
