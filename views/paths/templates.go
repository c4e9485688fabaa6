package paths

import (
	"net/url"
	"strconv"
)

// Routes of templates.
const (
	RouteTemplates           = "/workspaces/{slug}/templates"
	RouteTemplateNew         = "/workspaces/{slug}/templates/new"
	RouteTemplatePreview     = "/workspaces/{slug}/templates/preview"
	RouteTemplateImport      = "/workspaces/{slug}/templates/import"
	RouteTemplate            = "/workspaces/{slug}/templates/{id}"
	RouteTemplateClusters    = "/workspaces/{slug}/templates/{id}/clusters"
	RouteTemplateEdit        = "/workspaces/{slug}/templates/{id}/edit"
	RouteTemplateComparison  = "/workspaces/{slug}/templates/{id}/comparison"
	RouteTemplateExport      = "/workspaces/{slug}/templates/{id}/export"
	RouteTemplateArchive     = "/workspaces/{slug}/templates/{id}/archive"
	RouteTemplateRestoration = "/workspaces/{slug}/templates/{id}/restoration"
	RouteTemplateVersion     = "/workspaces/{slug}/templates/{id}/versions/{number}"
	RouteTemplateVersionUse  = "/workspaces/{slug}/templates/{id}/versions/{number}/use"
)

// Templates lists a workspace's templates; a POST to it creates one.
func Templates(slug string) string { return fill(RouteTemplates, slug) }

// TemplateList is the list as a query asks for it.
func TemplateList(slug string, q Query) string { return fill(RouteTemplates, slug) + q.encode() }

// NewTemplate is the form of a new template.
func NewTemplate(slug string) string { return fill(RouteTemplateNew, slug) }

// TemplateClone is the form of a new template that begins as a version of another.
func TemplateClone(slug, id string, number int) string {
	return NewTemplate(slug) + numbered(url.Values{"from": {id}}, "version", number)
}

// TemplatePreview tries a draft of a template with values; nothing is kept (POST).
func TemplatePreview(slug string) string { return fill(RouteTemplatePreview, slug) }

// TemplateImport takes a template from a file.
func TemplateImport(slug string) string { return fill(RouteTemplateImport, slug) }

// Template is the page of a template with its versions.
func Template(slug, id string) string { return fill(RouteTemplate, slug, id) }

// TemplateClusters lists the clusters made from a template.
func TemplateClusters(slug, id string, q Query) string {
	return fill(RouteTemplateClusters, slug, id) + q.encode()
}

// TemplateEdit is the editor, which begins with a version, 0 meaning the current one; a POST to it
// without one saves the next version.
func TemplateEdit(slug, id string, number int) string {
	return fill(RouteTemplateEdit, slug, id) + numbered(url.Values{}, "version", number)
}

// Comparison is what the URL of two compared versions says.
type Comparison struct {
	From, To int  // numbers of versions, 0 when not chosen
	All      bool // shows equal lines too
	Side     string
}

// The sides of a comparison that can be shown alone; empty shows both.
const (
	SideOriginal = "original"
	SideChanged  = "changed"
)

// ParseComparison reads a comparison's query. What makes no sense is ignored.
func ParseComparison(values url.Values) Comparison {
	c := Comparison{All: values.Get("lines") == "all", Side: values.Get("side")}
	c.From, _ = strconv.Atoi(values.Get("from"))
	c.To, _ = strconv.Atoi(values.Get("to"))
	if c.Side != SideOriginal && c.Side != SideChanged {
		c.Side = ""
	}
	return c
}

// TemplateComparison compares two versions.
func TemplateComparison(slug, id string, c Comparison) string {
	values := url.Values{}
	if c.From != 0 {
		values.Set("from", strconv.Itoa(c.From))
	}
	if c.All {
		values.Set("lines", "all")
	}
	if c.Side != "" {
		values.Set("side", c.Side)
	}
	return fill(RouteTemplateComparison, slug, id) + numbered(values, "to", c.To)
}

// TemplateExport is a template as a file: one version of it, or all with 0.
func TemplateExport(slug, id string, number int) string {
	return fill(RouteTemplateExport, slug, id) + numbered(url.Values{}, "version", number)
}

// TemplateArchive moves a template to the archive (POST).
func TemplateArchive(slug, id string) string { return fill(RouteTemplateArchive, slug, id) }

// TemplateRestoration takes a template out of the archive (POST).
func TemplateRestoration(slug, id string) string { return fill(RouteTemplateRestoration, slug, id) }

// TemplateVersion is a version of a template; a POST to it changes what is said of it.
func TemplateVersion(slug, id string, number int) string {
	return fill(RouteTemplateVersion, slug, id, strconv.Itoa(number))
}

// TemplateVersionUse makes a version the one that new clusters get (POST).
func TemplateVersionUse(slug, id string, number int) string {
	return fill(RouteTemplateVersionUse, slug, id, strconv.Itoa(number))
}

// numbered writes a query with a number that is left out when it is 0.
func numbered(values url.Values, name string, number int) string {
	if number != 0 {
		values.Set(name, strconv.Itoa(number))
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}
