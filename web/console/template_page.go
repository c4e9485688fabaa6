package console

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/templates"
	"commander/views/ui"
	"commander/web/respond"
)

// Template shows a template with its versions.
func (c *Console) Template(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	query, address := paths.ParseQuery(r.URL.Query()), paths.Template(t.Workspace.Slug, t.ID.String())
	filter := fleet.VersionFilter{Search: query.Text, Sort: query.Order(), Limit: c.size(), Start: c.first(query)}
	for status, available := range map[string]bool{templates.StatusAvailable: true, templates.StatusWithdrawn: false} {
		if query.Status == status {
			filter.Available = &available
		}
	}
	found, total, err := c.Fleet.TemplateVersions(r.Context(), actor(r), t.ClusterTemplate, filter)
	if err != nil {
		return err
	}
	shown := templates.Versions{
		Head:  templateHead(r, t, templates.TabVersions),
		Table: c.table(query, address, "-"+templates.SortVersion, "templates.filter_versions", len(found), total),
	}
	shown.Table.Kind = "versions"
	for _, view := range []struct{ status, label string }{
		{"", "filter.all"}, {templates.StatusAvailable, "templates.available"}, {templates.StatusWithdrawn, "templates.unavailable"},
	} {
		shown.Table.Filters = append(shown.Table.Filters, ui.Filter{
			Label: i18n.M(view.label), Href: paths.Asked(address, query.Only(view.status)), Pressed: query.Status == view.status,
		})
	}
	for _, v := range found {
		shown.Rows = append(shown.Rows, templates.Version{
			Number: v.Number, Comment: v.Comment, Available: v.Available, Current: v.Number == t.Current,
			CreatedBy: v.CreatedBy, CreatedAt: v.CreatedAt, Clusters: int(v.Clusters),
		})
	}
	return c.templatePage(w, r, http.StatusOK, t.Workspace, page{title: i18n.Plain(t.Name), content: templates.VersionsBody(shown)})
}

// TemplateClusters lists the clusters made from a template, those in deletion included.
func (c *Console) TemplateClusters(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	rows, total, err := c.Fleet.TemplateClusters(r.Context(), actor(r), t.ClusterTemplate, fleet.TemplateClustersFilter{
		Search: query.Text, Sort: query.Order(), Limit: c.size(), Start: c.first(query),
	})
	if err != nil {
		return err
	}
	address := paths.TemplateClusters(t.Workspace.Slug, t.ID.String(), paths.Query{})
	shown := templates.Clusters{
		Head:  templateHead(r, t, templates.TabClusters),
		Table: c.table(query, address, templates.SortName, "clusters.filter_name", len(rows), total),
	}
	shown.Table.Kind = "template-clusters"
	for _, row := range rows {
		shown.Rows = append(shown.Rows, c.templateCluster(t, row.ClusterLine))
	}
	return c.templatePage(w, r, http.StatusOK, t.Workspace, page{
		title: i18n.Plain(t.Name), tab: i18n.M("templates.clusters"), content: templates.ClustersBody(shown),
	})
}

func (c *Console) templateCluster(t fleet.TemplateHead, line store.ClusterLine) templates.Cluster {
	return templates.Cluster{
		ID: line.ID.String(), Name: line.Name, Status: ui.ClusterStatus(string(line.Status)),
		Version: line.TemplateNumber, Current: line.TemplateNumber == t.Current,
		Kubernetes: kubernetesVersion(line.KubernetesVersion), Agent: ui.AgentSeen(moment(line.ReportedAt), c.Fleet.Clock.Now()),
	}
}

// ArchiveTemplate moves a template to the archive.
func (c *Console) ArchiveTemplate(w http.ResponseWriter, r *http.Request) error {
	return c.moveTemplate(w, r, c.Fleet.ArchiveTemplate)
}

// RestoreTemplate takes a template out of the archive.
func (c *Console) RestoreTemplate(w http.ResponseWriter, r *http.Request) error {
	return c.moveTemplate(w, r, c.Fleet.RestoreTemplate)
}

func (c *Console) moveTemplate(w http.ResponseWriter, r *http.Request, move func(context.Context, fleet.Actor, uuid.UUID) (store.ClusterTemplate, error)) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	if _, err := move(r.Context(), actor(r), t.ID); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Template(t.Workspace.Slug, t.ID.String()))
}

// ExportTemplate answers with a template as a file: all its versions, or the one that is asked for.
func (c *Console) ExportTemplate(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	number, err := versionAsked(r, "version")
	if err != nil {
		return err
	}
	name, file, err := c.Fleet.ExportTemplate(r.Context(), actor(r), t.ID, number)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/yaml")
	h.Set("Content-Disposition", `attachment; filename="`+templateFile(name)+`"`)
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(file) // an error here is a browser that went away
	return nil
}

// templateFile keeps of a template's name what every system takes in the name of a file.
func templateFile(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, name)
	if clean = strings.Trim(clean, "-"); clean == "" {
		clean = "template"
	}
	return clean + ".yaml"
}
