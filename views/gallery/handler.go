package gallery

import (
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/search"
)

// policy is what the product sends with every page.
const policy = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// Handler serves the gallery under the product's own Content-Security-Policy. Each page is at
// /gallery/<name>, with ?lang=ru, ?theme=dark and ?density=compact. Its socket is real and plays
// Play, one message a beat. The bundle is read from a folder.
func Handler(assets string, beat time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServer(http.Dir(assets))))
	mux.HandleFunc("GET /gallery/{name}", page)
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, r *http.Request) { live(w, r, beat) })
	mux.HandleFunc("GET /{$}", index)
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		if err := search.List(found()).Render(Context(r.Context(), i18n.Negotiate(r.FormValue("lang"), "")), w); err != nil {
			panic(fmt.Errorf("draw what is found: %w", err))
		}
	})
	mux.HandleFunc("GET "+paths.RouteClusterViews, func(w http.ResponseWriter, r *http.Request) {
		if err := clusters.ViewsFragment(countedViews()).Render(Context(r.Context(), i18n.Negotiate(r.FormValue("lang"), "")), w); err != nil {
			panic(fmt.Errorf("draw the counts of views: %w", err))
		}
	})
	return mux
}

func index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	for _, e := range Exhibits() {
		fmt.Fprintf(w, "<p><a href=\"/gallery/%[1]s\">%[1]s</a></p>\n", e.Name)
	}
}

func page(w http.ResponseWriter, r *http.Request) {
	for _, e := range Exhibits() {
		if e.Name != r.PathValue("name") {
			continue
		}
		frame := layout.Frame{
			Assets: layout.Assets{Style: "/assets/commander.css", Script: "/assets/app.js", Icon: "/assets/favicon.svg"},
			Look:   layout.Look{Theme: r.FormValue("theme"), Density: r.FormValue("density")},
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		ctx := Context(r.Context(), i18n.Negotiate(r.FormValue("lang"), ""))
		if err := e.Page(frame).Render(ctx, w); err != nil {
			panic(fmt.Errorf("draw %s: %w", e.Name, err))
		}
		return
	}
	http.NotFound(w, r)
}

// live plays until the messages end or the browser goes.
func live(w http.ResponseWriter, r *http.Request, beat time.Duration) {
	upgrader := websocket.Upgrader{}
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer socket.Close()
	ctx := Context(r.Context(), i18n.English)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for _, message := range Play() {
		<-tick.C
		out, err := socket.NextWriter(websocket.TextMessage)
		if err != nil {
			return
		}
		if err := message.Render(ctx, out); err != nil {
			return
		}
		if err := out.Close(); err != nil {
			return
		}
	}
	// What a browser sends is of no interest; reading tells when it goes.
	for {
		if _, _, err := socket.ReadMessage(); err != nil {
			return
		}
	}
}
