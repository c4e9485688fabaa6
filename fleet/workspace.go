package fleet

import (
	"context"
	"crypto/rand"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"

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

// slugLength is that of a slug that nobody chose.
const slugLength = 5

// newSlug is of random lower-case letters.
func newSlug() string {
	raw := make([]byte, slugLength)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	for i, b := range raw {
		raw[i] = 'a' + b%26
	}
	return string(raw)
}

func cleanWorkspaceName(name string) (string, error) {
	if name = strings.TrimSpace(name); name == "" || len([]rune(name)) > longestName {
		return name, fault.Fields(map[string]fault.Message{Name: {Key: "workspace.name", Args: []any{longestName}}})
	}
	return name, nil
}

// CreateWorkspace makes a workspace with the shipped templates in it. An empty slug becomes a
// random one. Only who has the full role everywhere may do it. It fails with Invalid when the name
// or the slug cannot be used.
func (f *Fleet) CreateWorkspace(ctx context.Context, actor Actor, name, slug string) (store.Workspace, error) {
	if !May(actor.Everywhere, WorkspacesEdit) {
		return store.Workspace{}, fault.New(fault.Forbidden, "fault.forbidden")
	}
	name, err := cleanWorkspaceName(name)
	if err != nil {
		return store.Workspace{}, err
	}
	if slug = strings.TrimSpace(slug); slug == "" {
		slug = newSlug()
	}
	if !workspaceSlug.MatchString(slug) {
		return store.Workspace{}, fault.Fields(map[string]fault.Message{"slug": {Key: "workspace.slug"}})
	}
	var workspace store.Workspace
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		var err error
		if workspace, err = tx.InsertWorkspace(ctx, store.InsertWorkspaceParams{Slug: slug, Name: name}); err != nil {
			return fmt.Errorf("write workspace %s: %w", slug, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "workspace.create", ObjectType: "Workspace", ObjectID: workspace.ID, Workspace: workspace,
			Changes: map[string]any{"name": name, "slug": slug},
		})
	})
	if store.Unique(err, "workspaces_slug_key") {
		return workspace, fault.Fields(map[string]fault.Message{"slug": {Key: "workspace.slug.taken", Args: []any{slug}}})
	}
	if err != nil {
		return workspace, err
	}
	return workspace, f.EnsurePresets(ctx)
}

// RenameWorkspace gives a workspace another name; its slug and all that is in it stay.
func (f *Fleet) RenameWorkspace(ctx context.Context, actor Actor, id uuid.UUID, name string) (store.Workspace, error) {
	var after store.Workspace
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		before, err := workspaceForUpdate(ctx, tx, actor, id)
		if err != nil {
			return err
		}
		if name, err = cleanWorkspaceName(name); err != nil {
			return err
		}
		if after, err = tx.RenameWorkspace(ctx, store.RenameWorkspaceParams{ID: id, Name: name}); err != nil {
			return fmt.Errorf("rename workspace %s: %w", before.Slug, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "workspace.rename", ObjectType: "Workspace", ObjectID: id, Workspace: after,
			Changes: map[string]any{"name": []any{before.Name, after.Name}},
		})
	})
	return after, err
}

// DeleteWorkspace removes a workspace for good, with its templates, inventory, registries, tokens
// and archive. It fails with Conflict and their names while clusters in it are not archived.
func (f *Fleet) DeleteWorkspace(ctx context.Context, actor Actor, id uuid.UUID) (store.Workspace, error) {
	var workspace store.Workspace
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var err error
		if workspace, err = workspaceForUpdate(ctx, tx, actor, id); err != nil {
			return err
		}
		active, err := tx.ActiveClustersOf(ctx, store.ActiveClustersOfParams{WorkspaceID: id, Most: mostNamed})
		if err != nil {
			return err
		}
		if len(active) > 0 {
			names := make([]string, len(active))
			for i, c := range active {
				names[i] = c.Name
			}
			return fault.New(fault.Conflict, "workspace.has_clusters", workspace.Name, strings.Join(names, ", "))
		}
		for _, remove := range []func(context.Context, uuid.UUID) error{
			tx.DeleteTasksOfWorkspace, tx.DeleteClustersOfWorkspace, tx.DeleteWorkspace,
		} {
			if err := remove(ctx, id); err != nil {
				return fmt.Errorf("delete workspace %s: %w", workspace.Slug, err)
			}
		}
		return f.audit(ctx, tx, actor, change{
			Action: "workspace.delete", ObjectType: "Workspace", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": workspace.Name},
		})
	})
	return workspace, err
}

func workspaceForUpdate(ctx context.Context, tx *store.Tx, actor Actor, id uuid.UUID) (store.Workspace, error) {
	workspace, err := tx.WorkspaceForUpdate(ctx, id)
	if err != nil {
		return workspace, err
	}
	return workspace, Allowed(actor, WorkspacesEdit, id)
}

// InventoryCounts are the numbers of what clusters are made from, for the pages of a workspace
// that the actor may see.
func (f *Fleet) InventoryCounts(ctx context.Context, workspaceID uuid.UUID) (store.InventoryCountsRow, error) {
	counts, err := f.Store.InventoryCounts(ctx, workspaceID)
	return counts, store.AsFault(err)
}
