// Package settings shows a person's own settings.
package settings

// Page is the settings page.
type Page struct {
	Locale  string // "en" or "ru"
	Theme   string // "light", "dark" or empty for the system's
	Density string // "compact" or empty
	Saved   bool   // just saved
}

// Names of the form's fields.
const (
	FieldLocale  = "locale"
	FieldTheme   = "theme"
	FieldDensity = "density"
	// FieldBack is a local address to return to, sent by the menu of the person.
	FieldBack = "return"
)
