package layout

import (
	"context"
	"time"

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

// units hands the words of relative times to the browser, which counts on where the server stopped, and tells it the server's time.
func units(ctx context.Context) templ.Attributes {
	attributes := templ.Attributes{
		"data-ago": i18n.T(ctx, "time.ago"),
		"data-now": i18n.Now(ctx).UTC().Format(time.RFC3339),
	}
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
