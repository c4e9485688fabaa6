package console

import (
	"context"
	"net/http"
	"strings"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/search"
)

// Search finds clusters, templates, records and actions by a part of their names: those that the
// person may see and do.
func (c *Console) Search(w http.ResponseWriter, r *http.Request) error {
	results := search.Results{Text: r.URL.Query().Get("q"), Workspace: r.URL.Query().Get("workspace")}
	var place *store.Workspace
	if results.Workspace != "" {
		if found, err := c.Fleet.Workspace(r.Context(), actor(r), results.Workspace); err == nil {
			place = &found
		}
	}
	found, err := c.Fleet.Find(r.Context(), actor(r), results.Text)
	if err != nil {
		return err
	}
	workspaces, err := c.Fleet.WorkspaceNames(r.Context(), actor(r))
	if err != nil {
		return err
	}
	for _, kind := range []struct{ kind, title string }{{"cluster", "clusters.title"}, {"template", "templates.title"}, {"record", "search.records"}} {
		results.Groups = appendHits(results.Groups, kind.title, thingsOf(found, kind.kind))
	}
	results.Groups = appendHits(results.Groups, "search.actions", actionsFor(r.Context(), actor(r), place, results.Text))
	var places []search.Hit
	for _, w := range workspaces {
		if holds(w.Name+" "+w.Slug, results.Text) {
			places = append(places, search.Hit{Title: i18n.Plain(w.Name), Where: w.Slug, Href: paths.Clusters(w.Slug)})
		}
	}
	results.Groups = appendHits(results.Groups, "workspaces.title", places[:min(len(places), mostPlaces)])
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("search.title"), section: layout.SectionStart, workspace: place,
		content: search.Body(results), fragment: search.List(results),
	})
}

// mostPlaces is how many workspaces are offered at once.
const mostPlaces = 8

func appendHits(groups []search.Group, title string, hits []search.Hit) []search.Group {
	if len(hits) == 0 {
		return groups
	}
	return append(groups, search.Group{Title: i18n.M(title), Hits: hits})
}

func thingsOf(found []store.FindThingsRow, kind string) []search.Hit {
	var hits []search.Hit
	for _, f := range found {
		if f.Kind != kind {
			continue
		}
		id := f.ID.String()
		at := map[string]string{"cluster": paths.Cluster(id), "template": paths.Template(f.Slug, id), "record": paths.Record(f.Slug, id)}
		hits = append(hits, search.Hit{Title: i18n.Plain(f.Title), Where: f.Workspace, Href: at[kind]})
	}
	return hits
}

// actionsFor are what a person may do and where they may go, as far as its name holds the text.
func actionsFor(ctx context.Context, who fleet.Actor, place *store.Workspace, text string) []search.Hit {
	type action struct {
		title, href, keys string
		needs             fleet.Permission
	}
	all := []action{{"settings.title", paths.Settings(), "", fleet.SignedIn}}
	role := who.Everywhere
	if place != nil {
		role = who.Role(place.ID)
		slug := place.Slug
		all = append([]action{
			{"clusters.title", paths.Clusters(slug), "g c", fleet.ClustersView},
			{"clusters.create", paths.NewCluster(slug, ""), "c", fleet.ClustersEdit},
			{"tasks.title", paths.Tasks(slug), "g t", fleet.TasksView},
			{"archive.title", paths.Archive(slug), "g a", fleet.ClustersView},
			{"templates.title", paths.Templates(slug), "g p", fleet.TemplatesView},
			{"inventory.title", paths.Catalogs(slug), "g i", fleet.InventoryView},
			{"registries.title", paths.Registries(slug), "g r", fleet.RegistriesView},
			{"registries.new", paths.NewRegistry(slug), "", fleet.RegistriesEdit},
			{"tokens.title", paths.Tokens(slug), "", fleet.TokensView},
			{"workspace.settings", paths.WorkspaceSettings(slug), "", fleet.WorkspacesView},
		}, all...)
	}
	if fleet.May(who.Everywhere, fleet.WorkspacesEdit) {
		all = append(all, action{"workspaces.new", paths.NewWorkspace(), "", fleet.SignedIn})
	}
	var hits []search.Hit
	for _, a := range all {
		if fleet.May(role, a.needs) && holds(i18n.T(ctx, a.title), text) {
			hits = append(hits, search.Hit{Title: i18n.M(a.title), Href: a.href, Keys: a.keys})
		}
	}
	return hits
}

func holds(title, text string) bool {
	return strings.Contains(strings.ToLower(title), strings.ToLower(strings.TrimSpace(text)))
}
