package console

import (
	"net/http"
	"slices"

	"commander/fleet"
	"commander/internal/fault"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/settings"
	"commander/web/respond"
	"commander/web/session"
)

// Settings shows what a person can choose for themselves.
func (c *Console) Settings(w http.ResponseWriter, r *http.Request) error {
	return c.settings(w, r, false)
}

func (c *Console) settings(w http.ResponseWriter, r *http.Request, saved bool) error {
	person := session.Person(r.Context())
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("settings.title"), section: layout.SectionSettings,
		content: settings.Body(settings.Page{
			Locale: string(i18n.Of(r.Context())), Theme: person.Theme, Density: person.Density, Saved: saved,
		}),
	})
}

// SaveSettings keeps what a person chose; a form that holds only some of the choices leaves the
// others as they are.
func (c *Console) SaveSettings(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	person := session.Person(r.Context())
	for _, choice := range []struct {
		field   string
		value   *string
		options []settings.Option
	}{
		{settings.FieldLocale, &person.Language, settings.Locales()},
		{settings.FieldTheme, &person.Theme, settings.Themes()},
		{settings.FieldDensity, &person.Density, settings.Densities()},
	} {
		if !r.PostForm.Has(choice.field) {
			continue
		}
		*choice.value = r.PostForm.Get(choice.field)
		if !slices.ContainsFunc(choice.options, func(o settings.Option) bool { return o.Value == *choice.value }) {
			return fault.New(fault.Invalid, "fault.form")
		}
	}
	err := c.Fleet.SetPreferences(r.Context(), person.ID, fleet.Preferences{
		Language: person.Language, Theme: person.Theme, Density: person.Density,
	})
	if err != nil {
		return err
	}
	if back := respond.LocalPath(r.PostForm.Get(settings.FieldBack)); back != "" {
		return respond.SeeOther(w, r, back)
	}
	return c.settings(w, r.WithContext(session.With(r.Context(), person)), true)
}
