package fleet

import (
	"context"
	"regexp"
	"strings"

	"commander/internal/fault"
	"commander/store"
)

var workspaceSlug = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// EnsureWorkspace makes a workspace when its slug is not taken, with the shipped templates in it.
func (f *Fleet) EnsureWorkspace(ctx context.Context, slug, name string) (store.Workspace, error) {
	if !workspaceSlug.MatchString(slug) {
		return store.Workspace{}, fault.Fields(map[string]fault.Message{"slug": {Key: "workspace.slug"}})
	}
	if name = strings.TrimSpace(name); name == "" {
		name = slug
	}
	workspace, err := f.Store.EnsureWorkspace(ctx, store.EnsureWorkspaceParams{Slug: slug, Name: name})
	if err != nil {
		return workspace, store.AsFault(err)
	}
	return workspace, f.EnsurePresets(ctx)
}
