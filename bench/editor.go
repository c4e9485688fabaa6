package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"commander/views/paths"
)

const (
	// largeText and smallText are how long the YAML is that is typed into, in bytes.
	largeText, smallText = 1 << 20, 1 << 10

	editorReady  = `document.querySelector("#f-cluster_configuration + .yaml-editor[data-ready]")`
	editorText   = editorReady + `.shadowRoot.querySelector(".cm-content")`
	watchEditor  = `watch(` + editorText + `, () => true)`
	editorsField = editorReady + `.previousElementSibling`
	// tried are the answers to a draft that was sent to be tried.
	tried = `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/preview") && e.responseEnd)`
)

// editor measures in Chromium how long people wait for a character that they type into a large
// YAML, beside a small one, and for the server to try the template with it.
func (b *bench) editor(ctx context.Context) (figures []figure, err error) {
	s, err := b.theSite(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := s.fill(ctx, 1)
	if err != nil {
		return nil, err
	}
	tab, address, stop, err := s.browser(ctx, secret)
	if err != nil {
		return nil, err
	}
	defer stop(&err)
	address += paths.NewTemplate(workspace)
	small, _, err := typeInEditor(tab, address, smallText, b.Keys)
	if err != nil {
		return nil, err
	}
	large, tries, err := typeInEditor(tab, address, largeText, b.Keys)
	if err != nil {
		return nil, err
	}
	const what = "from a key to its painted character in a YAML of "
	return []figure{
		{what: what + "1 MiB, Chromium", samples: large, unit: milliseconds, goal: "p95 " + milliseconds(large.at(.95)), beside: ratio(large, small, milliseconds, "the same in 1 KiB")},
		{what: what + "1 KiB, Chromium", samples: small, unit: milliseconds},
		{what: "the answer of the server that tries a template with 1 MiB", samples: tries, unit: milliseconds},
	}, nil
}

// typeInEditor pastes a text of a size into a section of a new template and types into it.
// tries are how long the server took to try the text, in seconds.
func typeInEditor(tab context.Context, address string, size, keys int) (characters, tries samples, err error) {
	const row = "- {name: somebody, roles: [reader, writer], note: a line of an ordinary length} # and a remark\n"
	text := strings.Repeat(row, size/len(row))
	paste := fmt.Sprintf(`{
		const text = new DataTransfer();
		text.setData("text/plain", %q);
		%s.dispatchEvent(new ClipboardEvent("paste", {clipboardData: text, bubbles: true, cancelable: true}));
	}`, text, editorText)
	// A tab of its own: a form that was typed into asks before its page is left.
	tab, closeTab := chromedp.NewContext(tab)
	defer closeTab()
	patient, cancel := context.WithTimeout(tab, time.Minute)
	defer cancel()
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		return nil, nil, fmt.Errorf("open a tab: %w", err)
	}
	err = chromedp.Do(patient, chromedp.Navigate(address), settled(editorReady), script(watch), script(editorText+`.focus()`), script(paste),
		settled(fmt.Sprintf(`%s.value.length >= %d && %s.length > 0`, editorsField, len(text), tried)))
	if err != nil {
		return nil, nil, fmt.Errorf("paste %d bytes into the editor: %w", size, err)
	}
	for range keys {
		took, err := press(tab, watchEditor, "x")
		if err != nil {
			return nil, nil, fmt.Errorf("type into %d bytes: %w", size, err)
		}
		characters.addTime(took)
	}
	times, err := chromedp.Run(tab, chromedp.Evaluate[[]float64](tried+`.map((e) => e.duration)`))
	for _, t := range times {
		tries = append(tries, t/1e3)
	}
	return characters, tries, err
}
