package layout

import (
	"context"

	"github.com/a-h/templ"

	"commander/views/i18n"
)

// look sets theme and density, and leaves to the browser what the person has not chosen.
func look(l Look) templ.Attributes {
	attributes := templ.Attributes{}
	if l.Theme != "" {
		attributes["data-theme"] = l.Theme
	}
	if l.Density != "" {
		attributes["data-density"] = l.Density
	}
	return attributes
}

// units hands the words of relative times to the browser, which counts on where the server stopped.
func units(ctx context.Context) templ.Attributes {
	attributes := templ.Attributes{"data-ago": i18n.T(ctx, "time.ago")}
	for _, unit := range []string{"s", "min", "h", "d"} {
		attributes["data-unit-"+unit] = i18n.T(ctx, "unit."+unit)
	}
	return attributes
}

// current marks the entry of the sidebar whose page is shown.
func current(here bool) templ.Attributes {
	if !here {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}
