package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
)

// typed is a form of a cluster as a person left it.
type typed struct {
	name       string
	versionID  uuid.UUID
	templateID string
	nonce      string
	revision   int
	action     string
	parameters
	registry *fleet.RegistryChoice // nil when the form does not ask
}

// parameters are what a form says of each: a checkbox that is off is missing, several values have a
// line each.
type parameters struct {
	values map[string]string
	wanted map[string]fleet.Wanted // of records
	forget map[string]bool         // the secret that is saved
}

func parametersIn(form url.Values) parameters {
	p := parameters{map[string]string{}, map[string]fleet.Wanted{}, map[string]bool{}}
	for name, given := range form {
		if key, is := clusters.ForgetKey(name); is {
			p.forget[key] = true
		}
		if key, is := clusters.CatalogKey(name); is {
			p.wanted[key] = fleet.Wanted{Catalog: form.Get(name), Find: p.wanted[key].Find}
		}
		if key, is := clusters.FindKey(name); is {
			p.wanted[key] = fleet.Wanted{Catalog: p.wanted[key].Catalog, Find: form.Get(name)}
		}
		if key, is := clusters.ValueKey(name); is {
			pointed, shown := form.Get(clusters.CatalogField(key)), form.Get(clusters.ShownField(key))
			if pointed != "" && pointed != shown {
				given = nil // the record of another catalog than the one that is wanted now
			}
			p.values[key] = lineEnds.Replace(strings.Join(given, "\n"))
		}
	}
	return p
}

func typedIn(r *http.Request) (typed, error) {
	if err := parseForm(r); err != nil {
		return typed{}, err
	}
	form := r.PostForm
	t := typed{
		name: form.Get(clusters.FieldName), templateID: form.Get(clusters.FieldTemplate),
		nonce: form.Get(clusters.FieldNonce), action: form.Get(clusters.FieldAction), parameters: parametersIn(form),
	}
	var err error
	if t.versionID, err = uuid.Parse(form.Get(clusters.FieldVersion)); err != nil {
		return t, fault.Wrap(fault.Invalid, err, "fault.form")
	}
	if text := form.Get(clusters.FieldRevision); text != "" {
		if t.revision, err = strconv.Atoi(text); err != nil {
			return t, fault.Wrap(fault.Invalid, err, "fault.form")
		}
	}
	if form.Has(clusters.FieldRegistry) {
		t.registry = &fleet.RegistryChoice{Mode: form.Get(clusters.FieldRegistryMode)}
		if text := form.Get(clusters.FieldRegistry); text != "" {
			id, err := uuid.Parse(text)
			if err != nil {
				return t, fault.Wrap(fault.Invalid, err, "fault.form")
			}
			t.registry.ID = &id
		}
	}
	return t, nil
}

// formNonce is the nonce of the form; nil when the form holds none that makes sense.
func (t typed) formNonce() *uuid.UUID {
	nonce, err := uuid.Parse(t.nonce)
	if err != nil {
		return nil
	}
	return &nonce
}

// valuesFor turns what was typed into values. saved is what the cluster has, with masks for its
// secrets: a secret left empty is kept, and so is what the form does not show.
func (t parameters) valuesFor(parameters schema.Schema, saved store.Values) store.Values {
	hidden := map[string]bool{}
	for _, f := range parameters.Fields() {
		hidden[f.Key] = f.Hidden
	}
	values := store.Values(parameters.FromForm(
		func(key string) (string, bool) { text, given := t.values[key]; return text, given && !hidden[key] },
		func(key string) bool { return !hidden[key] },
	))
	for _, f := range parameters.Fields() {
		old, has := saved[f.Key]
		switch {
		case !has:
		case f.Hidden, f.Secret() && t.values[f.Key] == "" && !t.forget[f.Key]:
			values[f.Key] = old
		}
	}
	return values
}

// typedFrom is what a person would have typed to give the values.
func typedFrom(parameters schema.Schema, values store.Values) map[string]string {
	out := map[string]string{}
	for _, f := range parameters.Fields() {
		value, has := values[f.Key]
		switch {
		case !has, f.Secret():
		case f.Type == schema.Boolean && value != true:
		default:
			out[f.Key] = f.Typed(value)
		}
	}
	return out
}
