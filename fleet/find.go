package fleet

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"commander/store"
)

// mostFound is how many things of each kind are told: who wants more types more.
const mostFound = 8

// Find looks for clusters, templates and records by a part of their names, in all workspaces in
// which the actor may see them. An empty text finds nothing.
func (f *Fleet) Find(ctx context.Context, actor Actor, text string) ([]store.FindThingsRow, error) {
	runes := []rune(strings.ToLower(strings.TrimSpace(text)))
	if len(runes) == 0 {
		return nil, nil
	}
	workspaces, err := f.WorkspaceNames(ctx, actor)
	if err != nil {
		return nil, err
	}
	places := func(p Permission) []uuid.UUID {
		ids := make([]uuid.UUID, 0, len(workspaces))
		for _, w := range workspaces {
			if May(actor.Role(w.ID), p) {
				ids = append(ids, w.ID)
			}
		}
		return ids
	}
	pattern := store.LikePattern(string(runes[:min(len(runes), longestSearch)]))
	found, err := f.Store.FindThings(ctx, store.FindThingsParams{
		Pattern: "%" + pattern + "%", Prefix: pattern + "%", Most: mostFound,
		ClusterPlaces: places(ClustersView), TemplatePlaces: places(TemplatesView), RecordPlaces: places(InventoryView),
	})
	return found, store.AsFault(err)
}
