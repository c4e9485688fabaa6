package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"commander/store"
)

// change is an audited act. Changes holds new values, or [old, new] pairs for an update; secrets
// never belong in it.
type change struct {
	Action     string // such as cluster.parameters.change
	ObjectType string
	ObjectID   uuid.UUID
	Workspace  store.Workspace
	Changes    map[string]any
}

// audit writes down who did what, in the transaction of the act, and prints it as a line of the
// log tagged audit.
func (f *Fleet) audit(ctx context.Context, tx *store.Tx, actor Actor, c change) error {
	changes := c.Changes
	if changes == nil {
		changes = map[string]any{}
	}
	body, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("encode the audit of %s: %w", c.Action, err)
	}
	row := store.InsertAuditParams{
		WorkspaceSlug: c.Workspace.Slug,
		ActorType:     string(actor.Type),
		ActorName:     actor.Name,
		RemoteAddress: actor.RemoteAddress,
		RequestID:     actor.RequestID,
		Action:        c.Action,
		ObjectType:    c.ObjectType,
		ObjectID:      c.ObjectID,
		Changes:       body,
	}
	if c.Workspace.ID != uuid.Nil {
		row.WorkspaceID = &c.Workspace.ID
	}
	if actor.ID != uuid.Nil {
		row.ActorID = &actor.ID
	}
	if err := tx.InsertAudit(ctx, row); err != nil {
		return fmt.Errorf("write the audit of %s: %w", c.Action, err)
	}
	f.Log.LogAttrs(ctx, slog.LevelInfo, "audit",
		slog.String("tags", "audit"),
		slog.String("auditable_type", c.ObjectType),
		slog.String("auditable_id", c.ObjectID.String()),
		slog.String("action", c.Action),
		slog.String("user_type", string(actor.Type)),
		slog.String("user_name", actor.Name),
		slog.String("remote_address", actor.RemoteAddress),
		slog.String("request_uuid", actor.RequestID),
		slog.String("workspace_slug", c.Workspace.Slug),
		slog.Any("audited_changes", json.RawMessage(body)))
	return nil
}
