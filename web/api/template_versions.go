package api

import (
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"commander/fleet"
	"commander/internal/fault"
)

// numberOf reads the number of a version. What is no number is as unknown as one that no version has.
func numberOf(text string) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > fleet.MaxVersionNumber {
		return 0, fault.New(fault.NotFound, "fault.not_found")
	}
	return number, nil
}

func (a *api) listVersions(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	found, versions, err := a.fleet.Template(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, templateOf(found, versions, false).ClusterTemplateVersions)
	return nil
}

func (a *api) showVersion(w http.ResponseWriter, r *http.Request) error {
	return a.onVersion(w, r, func(fleet.Actor, *http.Request, int) error { return nil })
}

// onVersion does something with a version and answers with it.
func (a *api) onVersion(w http.ResponseWriter, r *http.Request, do func(fleet.Actor, *http.Request, int) error) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	number, err := numberOf(chi.URLParam(r, "number"))
	if err != nil {
		return err
	}
	actor := callerOf(r.Context()).actor
	if err := do(actor, r, number); err != nil {
		return err
	}
	found, version, err := a.fleet.NumberedVersion(r.Context(), actor, id, number)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, versionOf(found, version, true))
	return nil
}

func (a *api) changeVersion(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Comment   *string `json:"comment"`
		Available *bool   `json:"available"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	return a.onVersion(w, r, func(actor fleet.Actor, r *http.Request, number int) error {
		id, err := idOf(r)
		if err != nil {
			return err
		}
		return a.fleet.ChangeTemplateVersion(r.Context(), actor, id, number, fleet.VersionChange{Comment: body.Comment, Available: body.Available})
	})
}

func (a *api) useVersion(w http.ResponseWriter, r *http.Request) error {
	return a.onVersion(w, r, func(actor fleet.Actor, r *http.Request, number int) error {
		id, err := idOf(r)
		if err != nil {
			return err
		}
		return a.fleet.UseTemplateVersion(r.Context(), actor, id, number)
	})
}

func (a *api) exportTemplate(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	number := 0
	if text := r.URL.Query().Get("version"); text != "" {
		if number, err = numberOf(text); err != nil {
			return err
		}
	}
	_, file, err := a.fleet.ExportTemplate(r.Context(), callerOf(r.Context()).actor, id, number)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(file) // a program that has gone cannot be told
	return nil
}
