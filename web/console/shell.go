package console

import (
	"net/http"

	"github.com/a-h/templ"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/web/assets"
	"commander/web/respond"
	"commander/web/session"
)

// page is what a handler says of a page: the rest is the same for all.
type page struct {
	title     i18n.Message
	tab       i18n.Message // the part of a thing that has several pages
	section   layout.Section
	workspace *store.Workspace // nil outside of one
	counts    *fleet.Counts    // of the workspace, when they are known already
	live      string
	content   templ.Component
	// fragment answers a request for a part of the page; nil means content.
	fragment templ.Component
}

// Frame is what every page of a person has.
func (c *Console) Frame(r *http.Request) layout.Frame {
	person := session.Person(r.Context())
	return layout.Frame{
		Assets: layout.Assets{
			Style: c.Assets.URL(assets.Style), Script: c.Assets.URL(assets.Script), Icon: c.Assets.URL(assets.Icon),
		},
		Look: layout.Look{Theme: person.Theme, Density: person.Density},
	}
}

// show answers with a page, or with its fragment when that is asked for.
func (c *Console) show(w http.ResponseWriter, r *http.Request, status int, p page) error {
	if p.fragment == nil {
		p.fragment = p.content
	}
	if respond.WantsFragment(r) {
		return respond.HTML(w, r, status, p.fragment, p.fragment)
	}
	shell, err := c.shell(r, p)
	if err != nil {
		return err
	}
	return respond.HTML(w, r, status, layout.Page(shell, p.content), p.fragment)
}

// shell is what stands around a page.
func (c *Console) shell(r *http.Request, p page) (layout.Shell, error) {
	person := session.Person(r.Context())
	shell := layout.Shell{
		Frame: c.Frame(r), Person: layout.Person{Name: displayName(person), Email: person.Email},
		Section: p.section, Path: respond.PageOf(r), Live: p.live,
	}
	shell.Title = p.title
	if !p.tab.IsZero() {
		shell.Title = i18n.M("page.of", p.title, p.tab)
	}
	workspaces, err := c.Fleet.WorkspaceNames(r.Context(), person.Actor)
	if err != nil {
		return shell, err
	}
	for _, w := range workspaces {
		current := p.workspace != nil && w.ID == p.workspace.ID
		shell.Workspaces = append(shell.Workspaces, layout.Workspace{Slug: w.Slug, Name: w.Name, Current: current})
	}
	if p.workspace == nil {
		return shell, nil
	}
	shell.Slug = p.workspace.Slug
	shell.CanTokens = fleet.May(person.Actor.Role(p.workspace.ID), fleet.TokensView)
	if p.counts == nil {
		counts, err := c.Fleet.Counts(r.Context(), p.workspace.ID)
		if err != nil {
			return shell, err
		}
		p.counts = &counts
	}
	shell.Counts = sidebar(*p.counts)
	return shell, nil
}

// sidebar are the numbers beside the entries of the sidebar.
func sidebar(counts fleet.Counts) layout.Counts {
	return layout.Counts{
		Clusters: int(counts.Of()), Attention: int(counts.Of(fleet.Attention...)), Tasks: int(counts.Busy), Archive: int(counts.Archived),
	}
}

// displayName is what a person is called.
func displayName(p fleet.Person) string {
	if p.Name != "" {
		return p.Name
	}
	return p.Actor.Name
}
