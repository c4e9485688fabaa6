package respond

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// location is the JSON form of HX-Location: which parts of the next page replace which of this one.
type location struct {
	Path      string            `json:"path"`
	Target    string            `json:"target"`
	Select    string            `json:"select"`
	SelectOOB string            `json:"selectOOB"`
	Swap      string            `json:"swap"`
	Headers   map[string]string `json:"headers"`
}

// SeeOther leads to another page after a change. A browser gets a redirection; its script gets
// the same as a navigation, since it would follow a redirection by itself and put the next page
// into the form.
func SeeOther(w http.ResponseWriter, r *http.Request, path string) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", vary)
	if !IsHTMX(r) {
		http.Redirect(w, r, path, http.StatusSeeOther)
		return nil
	}
	value, err := json.Marshal(location{
		Path: path, Target: "#main", Select: "#main", SelectOOB: "#side,#switcher,#person-look",
		Swap:    "outerHTML show:window:top",
		Headers: map[string]string{"HX-Boosted": "true"}, // what answers is a whole page
	})
	if err != nil {
		return fmt.Errorf("write the next location: %w", err)
	}
	w.Header().Set("HX-Location", string(value))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Leave leads out of the page that is shown, with a whole new document: to the sign-in and back.
func Leave(w http.ResponseWriter, r *http.Request, path string) error {
	w.Header().Set("Cache-Control", "no-store")
	if !IsHTMX(r) {
		http.Redirect(w, r, path, http.StatusSeeOther)
		return nil
	}
	w.Header().Set("HX-Redirect", path)
	w.WriteHeader(http.StatusUnauthorized)
	return nil
}
