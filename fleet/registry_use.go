package fleet

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// RegistryChoice is where a cluster's platform comes from.
type RegistryChoice struct {
	ID *uuid.UUID // nil for the installation's own
	// Mode is RegistryDirect when it is empty.
	Mode string
}

// The keys under which problems with the choice are told.
const (
	RegistryField     = "registry_id"
	RegistryModeField = "registry_mode"
)

// useRegistry gives a locked cluster its registry. A registry of another workspace is as unknown
// as none.
func useRegistry(ctx context.Context, tx *store.Tx, cluster *store.Cluster, choice RegistryChoice) error {
	switch choice.Mode {
	case "":
		choice.Mode = RegistryDirect
	case RegistryDirect, RegistryUnmanaged:
	default:
		return fault.Fields(map[string]fault.Message{RegistryModeField: {Key: "registry.mode", Args: []any{choice.Mode}}})
	}
	if choice.ID != nil {
		registry, err := tx.RegistryForUse(ctx, *choice.ID)
		if notThere(err) || err == nil && registry.WorkspaceID != cluster.WorkspaceID {
			return fault.Fields(map[string]fault.Message{RegistryField: {Key: "registry.unknown"}})
		}
		if err != nil {
			return fmt.Errorf("read registry %s: %w", choice.ID, err)
		}
	}
	if err := tx.SetClusterRegistry(ctx, store.SetClusterRegistryParams{ID: cluster.ID, RegistryID: choice.ID, RegistryMode: choice.Mode}); err != nil {
		return fmt.Errorf("give cluster %s its registry: %w", cluster.ID, err)
	}
	cluster.RegistryID, cluster.RegistryMode = choice.ID, choice.Mode
	return nil
}
