package respond

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
)

// Vary names what an answer depends on besides its address.
const vary = "HX-Request, HX-Boosted, HX-History-Restore-Request, Accept-Encoding"

// HTML answers with the fragment when a part of a page is asked for, and with the page
// otherwise. Nothing is written when the component cannot be rendered.
func HTML(w http.ResponseWriter, r *http.Request, status int, page, fragment templ.Component) error {
	component := page
	if WantsFragment(r) {
		component = fragment
	}
	var body bytes.Buffer
	if err := component.Render(r.Context(), &body); err != nil {
		return fmt.Errorf("render %s: %w", r.URL.Path, err)
	}
	h := w.Header()
	out, err := zipped(h, r, &body)
	if err != nil {
		return err
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", vary)
	w.WriteHeader(status)
	_, _ = out.WriteTo(w) // an error here is a browser that went away
	return nil
}
