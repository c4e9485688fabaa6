package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

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

// The rows are swapped as a whole.
const watchRows = `watch(document.body, (r) => [...r.addedNodes].some((n) => n.id === "cluster-list"))`

// typedWords are typed into the filter letter by letter, and taken out again.
var typedWords = []string{"pay-prod", "search", "1.36", "env=test", "ml-stage-1", "no-such"}

// keys measures in Chromium how long people wait for the rows that they type for.
func (b *bench) keys(ctx context.Context) (figures []figure, err error) {
	s, secret, err := b.crowded(ctx)
	if err != nil {
		return nil, err
	}
	tab, address, stop, err := s.browser(ctx, secret)
	if err != nil {
		return nil, err
	}
	defer stop(&err)
	rows, err := typeInFilter(tab, address+paths.Clusters(workspace), b.Keys)
	if err != nil {
		return nil, err
	}
	return []figure{
		{what: fmt.Sprintf("from a key in the filter to painted rows, %d clusters, Chromium", b.Many), samples: rows, unit: milliseconds, goal: fmt.Sprintf("p95 ≤ 100 ms; here %s", milliseconds(rows.at(.95)))},
	}, nil
}

// browser starts the pages and a Chromium that has signed in to them; stop ends both.
func (s *site) browser(ctx context.Context, secret string) (tab context.Context, address string, stop func(*error), err error) {
	ours, _, err := s.ready(ctx, s.pages)
	if err != nil {
		end(ours, &err)
		return nil, "", nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("ignore-certificate-errors", true))
	allocator, cancel := chromedp.NewExecAllocator(ctx, options...)
	tab, closeTab := chromedp.NewContext(allocator)
	stop = func(err *error) {
		closeTab()
		cancel()
		end(ours, err)
	}
	yes := true
	address = "https://localhost:" + fmt.Sprint(ours.port)
	if err = chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		err = fmt.Errorf("start Chromium: %w", err)
	} else if _, err = chromedp.Call(tab, network.SetCookie, network.SetCookieParams{Name: session.Cookie, Value: secret, URL: address, Path: "/", Secure: &yes}); err != nil {
		err = fmt.Errorf("sign in: %w", err)
	}
	if err != nil {
		stop(&err)
	}
	return tab, address, stop, err
}

// pages starts the roles that people meet. The one that looks after clusters would start a connector
// for each of many.
func (s *site) pages(port int) (*child, error) { return s.commander(port, "--roles=web,live") }

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
