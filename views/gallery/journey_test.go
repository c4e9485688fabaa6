package gallery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"commander/views/clusters"
	"commander/views/gallery"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
)

// product answers at the product's addresses with pages of the gallery, the way handlers do.
func product(t *testing.T) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	pages := gallery.Handler(bundle, time.Hour)
	mux.Handle("/", pages)
	show := func(w http.ResponseWriter, r *http.Request, name string) {
		again := r.Clone(r.Context())
		again.Method, again.URL.Path = http.MethodGet, "/gallery/"+name
		pages.ServeHTTP(w, again)
	}
	fragment := func(w http.ResponseWriter, r *http.Request, c templ.Component) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := c.Render(gallery.Context(r.Context(), i18n.English), w); err != nil {
			t.Errorf("draw a fragment: %v", err)
		}
	}
	mux.HandleFunc("GET /workspaces/{slug}/clusters", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("HX-Request") != "" && r.Header.Get("HX-Boosted") == "" && r.Header.Get("HX-History-Restore-Request") == "" {
			fragment(w, r, clusters.ListFragment(clusters.List{
				Slug: "payments", Query: paths.ParseQuery(r.URL.Query()), Filters: []ui.Filter{{Label: i18n.Plain("narrowed")}},
				Saved: []ui.Filter{{Name: "view-v1", Label: i18n.Plain("Production"), Later: true}},
			}))
			return
		}
		show(w, r, "clusters")
	})
	mux.HandleFunc("GET /workspaces/{slug}/clusters/new", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("template") == "" {
			show(w, r, "templates")
			return
		}
		show(w, r, "new")
	})
	mux.HandleFunc("POST /workspaces/{slug}/clusters/preview", func(w http.ResponseWriter, r *http.Request) {
		fragment(w, r, clusters.PreviewFragment(clusters.Preview{
			Sections: []clusters.Section{{Title: i18n.M("section.kubernetes"), YAML: "prefix: " + r.FormValue(clusters.FieldName)}},
			Fields:   []ui.Field{{Name: clusters.ValueField("masterCount"), Problem: i18n.M("parameter.choice")}},
		}))
	})
	mux.HandleFunc("POST /workspaces/{slug}/clusters", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue(clusters.FieldName) != "fine" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			show(w, r, "new-invalid")
			return
		}
		if r.FormValue(clusters.FieldAction) != clusters.ActionInstall {
			t.Errorf("the button pressed is part of the form: got %q", r.FormValue(clusters.FieldAction))
		}
		w.Header().Set("HX-Location", fmt.Sprintf(`{"path":%q,"target":"#main","select":"#main","swap":"outerHTML show:window:top"}`, paths.Task("t1")))
		w.WriteHeader(http.StatusNoContent)
	})
	for address, name := range map[string]string{
		"/": "start", paths.RouteTemplates: "template-list", paths.RouteTasks: "tasks", paths.RouteArchive: "archive",
	} {
		if address == "/" {
			address += "{$}"
		}
		mux.HandleFunc("GET "+address, func(w http.ResponseWriter, r *http.Request) { show(w, r, name) })
	}
	mux.HandleFunc("GET /tasks/{id}", func(w http.ResponseWriter, r *http.Request) { show(w, r, "task") })
	return mux
}

func TestAPersonCreatesAClusterAndGoesBack(t *testing.T) {
	tab, _, said := browser(t, time.Hour)
	server := httptest.NewServer(product(t))
	t.Cleanup(server.Close)

	name := chromedp.CSS("#f-name")
	step := func(what string, actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(tab, actions...), what)
	}
	step("open the list", chromedp.Navigate(server.URL+paths.Clusters("payments")),
		until(`document.documentElement.dataset.script === ""`), until(`(window.kept = true)`))
	step("go to the templates without loading a page anew", press("[data-create]"),
		until(`document.querySelector("h1").textContent === "Choose a template"`),
		until(`location.pathname === "/workspaces/payments/clusters/new" && window.kept`),
		until(`document.title.startsWith("Choose a template")`),
		until(`document.activeElement === document.querySelector("h1")`))
	step("choose one", press(".choices a"),
		// The title has the focus once the page has settled and listens to what is typed.
		until(`document.querySelector("#cluster-form") && document.activeElement === document.querySelector("h1")`))
	step("type, and keep typing while the preview comes",
		chromedp.Evaluate[chromedp.Void](`document.querySelector("#f-name").value = ""`),
		chromedp.SendKeys(name, "bad"),
		until(`document.querySelector("#preview").textContent.includes("prefix: bad")`),
		until(`document.activeElement.id === "f-name" && document.activeElement.value === "bad"`),
		until(`document.getElementById("f-values.masterCount").getAttribute("aria-invalid") === "true"`),
		chromedp.SendKeys(name, "der"),
		until(`document.querySelector("#preview").textContent.includes("prefix: badder")`))
	step("install what is wrong", press(`button[value=install]`),
		until(`document.querySelector("#main [role=alert]")`),
		until(`document.activeElement.id === "f-name"`),
		until(`location.search === "?template=t1"`))
	step("install what is right",
		chromedp.Evaluate[chromedp.Void](`document.querySelector("#f-name").value = "fine"`),
		press(`button[value=install]`),
		until(`document.querySelector("h1").textContent.startsWith("Install")`),
		until(`location.pathname === "/tasks/t1" && window.kept`),
		until(`document.querySelector("#side [aria-current]").textContent.startsWith("Tasks")`))
	step("go back to a whole page", chromedp.NavigateBack(),
		until(`document.querySelector("#cluster-form") && document.querySelectorAll("#main").length === 1 && document.querySelectorAll(".topbar").length === 1`))
	step("go forward", chromedp.NavigateForward(),
		until(`document.querySelector("h1").textContent.startsWith("Install") && document.querySelectorAll("#main").length === 1`))
	step("filter the list with a key and a word", chromedp.Navigate(server.URL+paths.Clusters("payments")),
		until(`document.documentElement.dataset.script === ""`),
		until(`document.getElementById("filter-view-v1").textContent === "140"`), // it came after the list
		chromedp.SendKeys(chromedp.CSS("[data-filter]"), "x"),
		until(`document.querySelector("#cluster-list .empty")`),
		until(`document.querySelector("#cluster-filters").textContent.includes("narrowed")`),
		until(`document.getElementById("filter-view-v1").textContent === "140"`), // and stays
		until(`location.search.includes("q=x")`), until(`document.activeElement.matches("[data-filter]")`))
	// The refused form is expected, and so is a socket that its page left before it was open.
	for _, s := range said() {
		require.Regexp(t, `422|closed before the connection is established|\[object Event\]`, s)
	}
}
