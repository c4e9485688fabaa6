package fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// NewTemplate is a template that a person or program wants.
type NewTemplate struct {
	WorkspaceID   uuid.UUID
	Name, Comment string
	Body          TemplateVersionBody
	// Nonce is that of the form, so that a double submit makes one template. Nil for the API.
	Nonce *uuid.UUID
}

// CreateTemplate makes a template with its first version. It fails with Invalid and the problem
// of each section, and of the name when that is taken.
func (f *Fleet) CreateTemplate(ctx context.Context, actor Actor, wanted NewTemplate) (store.ClusterTemplate, error) {
	if err := Allowed(actor, TemplatesEdit, wanted.WorkspaceID); err != nil {
		return store.ClusterTemplate{}, err
	}
	body := wanted.Body.prepared()
	wanted.Name = strings.TrimSpace(wanted.Name)
	if err := sound(wanted.Name, wanted.Comment, &body); err != nil {
		return store.ClusterTemplate{}, err
	}
	return f.insertTemplate(ctx, actor, wanted, change{Action: "template.create"}, func(tx *store.Tx, template store.ClusterTemplate) error {
		_, err := f.addVersion(ctx, tx, actor, template.ID, body)
		return err
	})
}

// sound refuses what cannot be saved. A nil body leaves the versions alone.
func sound(name, comment string, body *TemplateVersionBody) error {
	var problems []TemplateProblem
	if body != nil {
		_, problems = checkBody(*body)
	}
	if problem := checkTemplateName(name); problem != nil {
		problems = append(problems, TemplateProblem{Section: Name, Message: *problem})
	}
	if badComment(comment) {
		problems = append(problems, TemplateProblem{Section: "comment", Message: fault.Message{Key: "template.comment", Args: []any{longestComment}}})
	}
	if body != nil && badComment(body.Comment) {
		problems = append(problems, TemplateProblem{Section: "version_comment", Message: fault.Message{Key: "template.comment", Args: []any{longestComment}}})
	}
	return refused(problems)
}

// insertTemplate makes a template and lets fill put versions into it, in one transaction.
func (f *Fleet) insertTemplate(ctx context.Context, actor Actor, wanted NewTemplate, noted change, fill func(*store.Tx, store.ClusterTemplate) error) (store.ClusterTemplate, error) {
	var template store.ClusterTemplate
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var err error
		if wanted.Nonce != nil {
			if template, err = tx.TemplateByNonce(ctx, wanted.Nonce); err == nil {
				return nil // the same form, sent twice
			}
		}
		workspace, err := tx.Workspace(ctx, wanted.WorkspaceID)
		if err != nil {
			return err
		}
		if template, err = tx.InsertTemplate(ctx, store.InsertTemplateParams{
			WorkspaceID: wanted.WorkspaceID, Name: wanted.Name, Comment: strings.TrimSpace(wanted.Comment), FormNonce: wanted.Nonce,
		}); err != nil {
			return fmt.Errorf("write template %s: %w", wanted.Name, err)
		}
		if err := fill(tx, template); err != nil {
			return err
		}
		if template, err = tx.Template(ctx, template.ID); err != nil {
			return err
		}
		noted.ObjectType, noted.ObjectID, noted.Workspace = "ClusterTemplate", template.ID, workspace
		noted.Changes = map[string]any{"name": template.Name}
		return f.audit(ctx, tx, actor, noted)
	})
	if wanted.Nonce != nil && (store.Unique(err, "cluster_templates_form_nonce_key") || store.Unique(err, "cluster_templates_name")) {
		// A twin of the form that was faster by a moment has taken the nonce, and the name with it.
		if twin, errTwin := f.Store.TemplateByNonce(ctx, wanted.Nonce); errTwin == nil {
			return twin, nil
		}
	}
	return template, templateNameTaken(err, wanted.Name)
}

func templateNameTaken(err error, name string) error {
	if store.Unique(err, "cluster_templates_name") {
		return fault.Fields(map[string]fault.Message{Name: {Key: "template.name.taken", Args: []any{name}}})
	}
	return err
}

// TemplateChange is what a template is to be.
type TemplateChange struct {
	// Revision is the one that the change was made from; a stale one is refused.
	Revision      int
	Name, Comment string
	// Body becomes the next version, unless it is the same as the current one. Nil leaves the
	// versions alone.
	Body *TemplateVersionBody
}

// ChangeTemplate renames a template and gives it its next version. It fails with Conflict when
// somebody changed it since Revision, unless they saved the very same, and with Invalid and the
// problem of each section when it cannot be used.
func (f *Fleet) ChangeTemplate(ctx context.Context, actor Actor, id uuid.UUID, wanted TemplateChange) (store.ClusterTemplate, error) {
	var body *TemplateVersionBody
	if wanted.Body != nil {
		prepared := wanted.Body.prepared()
		body = &prepared
	}
	wanted.Name, wanted.Comment = strings.TrimSpace(wanted.Name), strings.TrimSpace(wanted.Comment)
	var after store.ClusterTemplate
	err := f.changeTemplate(ctx, actor, id, func(tx *store.Tx, before store.ClusterTemplate, workspace store.Workspace) error {
		if err := sound(wanted.Name, wanted.Comment, body); err != nil {
			return err
		}
		newVersion, err := differsFromCurrent(ctx, tx, before, body)
		if err != nil {
			return err
		}
		renamed := before.Name != wanted.Name || before.Comment != wanted.Comment
		after = before
		if !newVersion && !renamed {
			return nil
		}
		if before.CurrentRevision != wanted.Revision {
			return fault.New(fault.Conflict, "template.stale_revision", wanted.Revision, before.CurrentRevision)
		}
		changes := map[string]any{}
		if renamed {
			changes["name"], changes["comment"] = []any{before.Name, wanted.Name}, []any{before.Comment, wanted.Comment}
			if _, err := tx.SetTemplate(ctx, store.SetTemplateParams{ID: id, Name: wanted.Name, Comment: wanted.Comment}); err != nil {
				return fmt.Errorf("rename template %s: %w", id, err)
			}
		}
		if newVersion {
			version, err := f.addVersion(ctx, tx, actor, id, *body)
			if err != nil {
				return err
			}
			changes["version"] = version.Number
			if err := tx.TakeTemplateOver(ctx, id); err != nil {
				return err
			}
		}
		if after, err = tx.Template(ctx, id); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "template.change", ObjectType: "ClusterTemplate", ObjectID: id, Workspace: workspace, Changes: changes,
		})
	})
	return after, templateNameTaken(err, wanted.Name)
}

func differsFromCurrent(ctx context.Context, tx *store.Tx, template store.ClusterTemplate, body *TemplateVersionBody) (bool, error) {
	if body == nil {
		return false, nil
	}
	if template.CurrentVersionID == nil {
		return true, nil
	}
	current, err := tx.TemplateVersion(ctx, *template.CurrentVersionID)
	if err != nil {
		return false, err
	}
	return !body.same(BodyOf(current)), nil
}

// changeTemplate locks a template for a change by an actor who may make it.
func (f *Fleet) changeTemplate(ctx context.Context, actor Actor, id uuid.UUID, do func(*store.Tx, store.ClusterTemplate, store.Workspace) error) error {
	return f.Store.InTx(ctx, func(tx *store.Tx) error {
		template, err := tx.TemplateForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := Allowed(actor, TemplatesEdit, template.WorkspaceID); err != nil {
			return err
		}
		if template.ArchivedAt != nil {
			return fault.New(fault.Conflict, "template.archived", template.Name)
		}
		workspace, err := tx.Workspace(ctx, template.WorkspaceID)
		if err != nil {
			return err
		}
		return do(tx, template, workspace)
	})
}
