package settings

import "commander/views/i18n"

// Option is a choice a person has.
type Option struct {
	Value string
	Label i18n.Message
}

// Themes are the themes to choose from; the empty one follows the system.
func Themes() []Option {
	return []Option{
		{"", i18n.M("settings.theme.system")},
		{"light", i18n.M("settings.theme.light")},
		{"dark", i18n.M("settings.theme.dark")},
	}
}

// Densities are the heights of rows to choose from.
func Densities() []Option {
	return []Option{
		{"", i18n.M("settings.density.normal")},
		{"compact", i18n.M("settings.density.compact")},
	}
}

// Locales are the languages to choose from, each by its own name.
func Locales() []Option {
	return []Option{
		{string(i18n.English), i18n.Plain("English")},
		{string(i18n.Russian), i18n.Plain("Русский")},
	}
}
