package paths

import (
	"net/url"
	"strconv"
	"strings"
)

// Routes of upgrades: one cluster's way to another version of a template, and moves of many.
const (
	RouteClusterUpgrade = "/clusters/{id}/upgrade"

	RouteTemplateSwitch        = "/workspaces/{slug}/templates/{id}/switch"
	RouteTemplateSwitchPreview = "/workspaces/{slug}/templates/{id}/switch/preview"

	RouteTemplateMoves = "/workspaces/{slug}/templates/{id}/moves"

	RouteMove       = "/switches/{id}"
	RouteMoveCancel = "/switches/{id}/cancellation"
)

// ClusterUpgrade shows what a version of a template would make of a cluster, or asks for the version
// when its id is empty; a POST to it answers what is asked, and moves the cluster.
func ClusterUpgrade(id, version string) string {
	return with(fill(RouteClusterUpgrade, id), "version", version)
}

// Switching is what the URL says of the clusters that are to be moved.
type Switching struct {
	Version int    // of the template to move to; 0 means the current one
	From    int    // the version that they have; 0 means any
	Text    string // a part of their names
}

// TemplateSwitch chooses clusters of a template for a move; a POST to it begins the move.
func TemplateSwitch(slug, id string, s Switching) string {
	values := url.Values{}
	for name, number := range map[string]int{"version": s.Version, "from": s.From} {
		if number != 0 {
			values.Set(name, strconv.Itoa(number))
		}
	}
	if s.Text != "" {
		values.Set("q", s.Text)
	}
	if len(values) == 0 {
		return fill(RouteTemplateSwitch, slug, id)
	}
	return fill(RouteTemplateSwitch, slug, id) + "?" + values.Encode()
}

// ParseSwitching reads what TemplateSwitch wrote. What makes no sense is ignored.
func ParseSwitching(values url.Values) Switching {
	s := Switching{Text: strings.TrimSpace(values.Get("q"))}
	s.Version, _ = strconv.Atoi(values.Get("version"))
	s.From, _ = strconv.Atoi(values.Get("from"))
	return s
}

// TemplateSwitchPreview shows what a move would make of the chosen clusters (POST).
func TemplateSwitchPreview(slug, id string) string {
	return fill(RouteTemplateSwitchPreview, slug, id)
}

// Move is the page of a move of many clusters.
func Move(id string) string { return fill(RouteMove, id) }

// MoveCancel starts nothing more of a move (POST).
func MoveCancel(id string) string { return fill(RouteMoveCancel, id) }

// TopicMove is the live topic of a move.
func TopicMove(id string) string { return "switch:" + id }

// TemplateMoves lists the moves to versions of a template.
func TemplateMoves(slug, id string) string { return fill(RouteTemplateMoves, slug, id) }
