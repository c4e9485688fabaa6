package fleet

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// longestComment bounds what is said of a template or version, in characters.
const longestComment = 1000

func badComment(text string) bool {
	return utf8.RuneCountInString(text) > longestComment || !utf8.ValidString(text) || strings.ContainsRune(text, 0)
}

// VersionChange is what may be said of a version after it was saved; nil keeps what is said.
type VersionChange struct {
	Comment *string
	// Available lets new clusters be made from the version and others be switched to it. Clusters
	// that have it keep working without.
	Available *bool
}

// over completes a change with what is said of a version already.
func (c VersionChange) over(v store.ClusterTemplateVersion) (comment string, available bool) {
	comment, available = v.Comment, v.Available
	if c.Comment != nil {
		comment = strings.TrimSpace(*c.Comment)
	}
	if c.Available != nil {
		available = *c.Available
	}
	return comment, available
}

// ChangeTemplateVersion says something else of a version.
func (f *Fleet) ChangeTemplateVersion(ctx context.Context, actor Actor, id uuid.UUID, number int, wanted VersionChange) error {
	if wanted.Comment != nil && badComment(strings.TrimSpace(*wanted.Comment)) {
		return fault.New(fault.Invalid, "template.comment", longestComment)
	}
	return f.changeTemplate(ctx, actor, id, func(tx *store.Tx, template store.ClusterTemplate, workspace store.Workspace) error {
		version, err := tx.TemplateVersionByNumber(ctx, store.TemplateVersionByNumberParams{TemplateID: id, Number: number})
		if err != nil {
			return err
		}
		comment, available := wanted.over(version)
		if version.Comment == comment && version.Available == available {
			return nil
		}
		if err := tx.SetTemplateVersion(ctx, store.SetTemplateVersionParams{ID: version.ID, Comment: comment, Available: available}); err != nil {
			return err
		}
		if err := tx.TouchTemplate(ctx, id); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "template.version.change", ObjectType: "ClusterTemplate", ObjectID: template.ID, Workspace: workspace,
			Changes: map[string]any{
				"version": number, "comment": []any{version.Comment, comment}, "available": []any{version.Available, available},
			},
		})
	})
}

// UseTemplateVersion makes a version the one that new clusters get. It fails with Conflict for one
// that is not available.
func (f *Fleet) UseTemplateVersion(ctx context.Context, actor Actor, id uuid.UUID, number int) error {
	return f.changeTemplate(ctx, actor, id, func(tx *store.Tx, template store.ClusterTemplate, workspace store.Workspace) error {
		version, err := tx.TemplateVersionByNumber(ctx, store.TemplateVersionByNumberParams{TemplateID: id, Number: number})
		if err != nil {
			return err
		}
		if template.CurrentVersionID != nil && *template.CurrentVersionID == version.ID {
			return nil
		}
		if !version.Available {
			return fault.New(fault.Conflict, "template.version.unavailable")
		}
		if err := tx.SetCurrentTemplateVersion(ctx, store.SetCurrentTemplateVersionParams{ID: id, CurrentVersionID: &version.ID}); err != nil {
			return err
		}
		// Whoever chooses a version does not want the next upgrade of the product to choose another.
		if err := tx.TakeTemplateOver(ctx, id); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "template.version.use", ObjectType: "ClusterTemplate", ObjectID: template.ID, Workspace: workspace,
			Changes: map[string]any{"current_version": number},
		})
	})
}

// ArchiveTemplate puts a template away: no new clusters are made from it, and those that are keep
// working.
func (f *Fleet) ArchiveTemplate(ctx context.Context, actor Actor, id uuid.UUID) (store.ClusterTemplate, error) {
	var after store.ClusterTemplate
	err := f.changeTemplate(ctx, actor, id, func(tx *store.Tx, template store.ClusterTemplate, workspace store.Workspace) error {
		// Two archivings at once must not get the same number.
		if err := tx.LockWorkspace(ctx, workspace.ID); err != nil {
			return err
		}
		var err error
		if after, err = tx.ArchiveTemplate(ctx, id); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "template.archive", ObjectType: "ClusterTemplate", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": template.Name},
		})
	})
	return after, err
}

// RestoreTemplate brings a template back from the archive. It fails with Conflict when another
// one has taken its name.
func (f *Fleet) RestoreTemplate(ctx context.Context, actor Actor, id uuid.UUID) (store.ClusterTemplate, error) {
	var after store.ClusterTemplate
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		template, err := tx.TemplateForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := Allowed(actor, TemplatesEdit, template.WorkspaceID); err != nil {
			return err
		}
		if after = template; template.ArchivedAt == nil {
			return nil
		}
		workspace, err := tx.Workspace(ctx, template.WorkspaceID)
		if err != nil {
			return err
		}
		if after, err = tx.RestoreTemplate(ctx, id); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "template.restore", ObjectType: "ClusterTemplate", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": template.Name},
		})
	})
	if store.Unique(err, "cluster_templates_name") {
		err = fault.New(fault.Conflict, "template.restore_taken")
	}
	return after, err
}

// NumberedVersion reads one version of a template by its number, 0 meaning the current one.
func (f *Fleet) NumberedVersion(ctx context.Context, actor Actor, id uuid.UUID, number int) (store.ClusterTemplate, store.ClusterTemplateVersion, error) {
	template, err := f.Store.Template(ctx, id)
	if err != nil {
		return template, store.ClusterTemplateVersion{}, store.AsFault(err)
	}
	if err := Allowed(actor, TemplatesView, template.WorkspaceID); err != nil {
		return template, store.ClusterTemplateVersion{}, err
	}
	if number == 0 && template.CurrentVersionID != nil {
		version, err := f.Store.TemplateVersion(ctx, *template.CurrentVersionID)
		return template, version, store.AsFault(err)
	}
	version, err := f.Store.TemplateVersionByNumber(ctx, store.TemplateVersionByNumberParams{TemplateID: id, Number: number})
	return template, version, store.AsFault(err)
}
