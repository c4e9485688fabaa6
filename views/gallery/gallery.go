// Package gallery draws every page and piece in its states, from made-up facts and at a fixed
// moment: for the eye, for screenshots, and for the golden test.
package gallery

import (
	"context"
	"time"

	"github.com/a-h/templ"

	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
)

// Moment is the time at which the gallery stands still.
var Moment = time.Date(2026, time.May, 3, 12, 0, 0, 0, time.UTC)

// Exhibit is a whole page in one state.
type Exhibit struct {
	Name string
	Page func(layout.Frame) templ.Component
}

// Context is one in which an exhibit is drawn.
func Context(ctx context.Context, l i18n.Locale) context.Context {
	return i18n.At(i18n.With(ctx, l), Moment)
}

// Exhibits are all pages in all states that differ to the eye.
func Exhibits() []Exhibit {
	var all []Exhibit
	for _, some := range [][]Exhibit{entrance(), lists(), forms(), cluster(), life(), taskPages(), personal(), material(), templatePages(), upgrades(), pieces()} {
		all = append(all, some...)
	}
	return all
}

// shelled is an exhibit with the shell around it.
func shelled(name string, section layout.Section, title i18n.Message, content templ.Component) Exhibit {
	return Exhibit{name, func(f layout.Frame) templ.Component {
		return layout.Page(shell(f, section, title), content)
	}}
}

// bare is an exhibit without a shell.
func bare(name string, title i18n.Message, content templ.Component) Exhibit {
	return Exhibit{name, func(f layout.Frame) templ.Component {
		f.Title = title
		return layout.Bare(f, content)
	}}
}

func shell(f layout.Frame, section layout.Section, title i18n.Message) layout.Shell {
	f.Title = title
	s := layout.Shell{
		Frame:   f,
		Person:  layout.Person{Name: "ada@corp", Email: "ada@corp.example"},
		Slug:    slug,
		Section: section,
		Workspaces: []layout.Workspace{
			{Slug: slug, Name: "Payments", Current: true},
			{Slug: "search", Name: "Search and recommendations"},
		},
		Counts:    layout.Counts{Clusters: 214, Attention: 6, Tasks: 3, Archive: 18},
		CanTokens: true,
		Path:      paths.Clusters(slug),
		Live:      paths.Live(0, paths.TopicClusters("w1")),
	}
	if section == layout.SectionStart {
		s.Slug = ""
		s.Workspaces[0].Current = false
	}
	return s
}

const (
	slug      = "payments"
	clusterID = "0f7ab2d4-6c1e-4f6d-9f0a-1b2c3d4e5f60"
	taskID    = "6f1c0c3e-2a7b-4c55-8d8e-0a1b2c3d4e5f"
)

// ago is a moment before the gallery's.
func ago(d time.Duration) time.Time { return Moment.Add(-d) }

// heard is an agent last heard some time ago.
func heard(d time.Duration) ui.Agent { return ui.AgentSeen(ago(d), Moment) }
