package gallery_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"commander/views/gallery"
)

// engine judges pages by the rules of WCAG 2. It comes with the packages of the bundle.
const engine = "../../web/assets/node_modules/axe-core/axe.min.js"

// judge runs the rules of levels A and AA on a page, and on its menus and dialogs, each opened by
// itself: what is closed is not judged, and what is open covers the page. Those that the shell has on
// every page are judged once. In the dark only colours can be wrong that are right in the light. It
// gives the rule, the place and the reason.
const judge = `(async (judged) => {
	const wrong = [];
	const see = async (what) => {
		for (const [theme, runOnly] of [["light", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]], ["dark", {type: "rule", values: ["color-contrast", "link-in-text-block"]}]]) {
			document.documentElement.dataset.theme = theme;
			const { violations } = await axe.run(what, {resultTypes: ["violations"], runOnly});
			for (const rule of violations) for (const node of rule.nodes) {
				wrong.push(theme + ": " + rule.id + " at " + node.target.join(" ") + ": " + node.failureSummary.replace(/\s+/g, " "));
			}
		}
	};
	const still = new CSSStyleSheet();
	still.replaceSync("*, ::before, ::after { animation: none !important; transition: none !important; }");
	document.adoptedStyleSheets.push(still);
	const all = [...document.querySelectorAll("[popover], dialog, .drop:not([hx-get])")];
	const set = (layer, open) => {
		if (layer.matches("details")) layer.open = open;
		else if (layer.matches("dialog")) open ? layer.showModal() : layer.close();
		else layer.togglePopover(open);
	};
	const offered = (palette) => new Promise((done) => {
		const look = () => palette.querySelector("[role=option]") ? done() : setTimeout(look, 10);
		palette.querySelector("input[name=q]").dispatchEvent(new Event("offer"));
		look();
	});
	for (const layer of all) set(layer, false);
	for (const section of document.querySelectorAll("details.section")) section.open = true;
	await see(document);
	const layers = [];
	for (const layer of all) {
		const written = layer.outerHTML;
		if (judged.includes(written)) continue;
		set(layer, true);
		if (layer.id === "palette") await offered(layer);
		await see(layer);
		set(layer, false);
		layers.push(written);
	}
	return { wrong, layers };
})`

// verdict is what judge gives.
type verdict struct {
	Wrong  []string `json:"wrong"`
	Layers []string `json:"layers"` // judged now, as they are written
}

// TestPagesAreForEverybody holds every page, in both languages, light and dark, against the rules of
// WCAG 2 that a program can check.
func TestPagesAreForEverybody(t *testing.T) {
	tab, address, _ := browser(t, time.Hour)
	source, err := os.ReadFile(engine)
	require.NoError(t, err, "the rules are missing: run `make assets`")
	drawn := until(`document.documentElement.dataset.script === "" && (!document.querySelector("[data-editor]") || document.querySelector(".yaml-editor[data-ready]"))`)
	group, ctx := errgroup.WithContext(tab)
	for _, language := range []string{"en", "ru"} {
		group.Go(func() error {
			tab, cancel := chromedp.NewContext(ctx)
			defer cancel()
			// The protocol puts the engine into the pages; their policy lets no other script in.
			if _, err := chromedp.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: string(source)}); err != nil {
				return fmt.Errorf("prepare a tab: %w", err)
			}
			// In a window as high as the page nothing sticks over what it scrolls past.
			if err := chromedp.Do(tab, chromedp.EmulateViewport(1280, 4000)); err != nil {
				return fmt.Errorf("size a tab: %w", err)
			}
			layers := []string{}
			for _, e := range gallery.Exhibits() {
				if e.Name == "messages" {
					continue // fragments that are no page
				}
				if err := chromedp.Do(tab, chromedp.Navigate(address+"/gallery/"+e.Name+"?lang="+language), drawn); err != nil {
					return fmt.Errorf("open %s in %s: %w", e.Name, language, err)
				}
				judged, err := json.Marshal(layers)
				if err != nil {
					return err
				}
				found, err := chromedp.Run(tab, chromedp.Evaluate[verdict](judge+"("+string(judged)+")", chromedp.EvalAwaitPromise))
				if err != nil {
					return fmt.Errorf("judge %s in %s: %w", e.Name, language, err)
				}
				layers = append(layers, found.Layers...)
				for _, wrong := range found.Wrong {
					t.Errorf("%s in %s, %s", e.Name, language, wrong)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}
