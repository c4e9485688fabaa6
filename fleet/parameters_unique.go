package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// uniqueValue is a value of a unique parameter as it is compared.
type uniqueValue struct {
	key  string
	hash []byte
}

// uniqueValues are the values that no other cluster of the workspace may have: those of a list each
// by itself, records by their ids. They are compared by their hashes, as they may be secrets.
func uniqueValues(ctx context.Context, tx *store.Tx, workspaceID uuid.UUID, parameters schema.Schema, values store.Values) ([]uniqueValue, error) {
	var out []uniqueValue
	for _, f := range parameters.Fields() {
		value := values[f.Key]
		if !f.Unique || schema.Empty(value) {
			continue
		}
		hasher, err := tx.Hasher(ctx, "parameters")
		if err != nil {
			return nil, err
		}
		all, isList := value.([]any)
		if !isList {
			all = []any{value}
		}
		for _, one := range all {
			if record, is := one.(map[string]any); is && f.Catalog != "" {
				one = record[schema.RecordID]
			}
			body, err := json.Marshal(one)
			if err != nil {
				return nil, fmt.Errorf("compare the values of %s: %w", f.Key, err)
			}
			out = append(out, uniqueValue{f.Key, hasher.Sum(workspaceID[:], []byte(f.Key), body)})
		}
	}
	// One order for all, so that two clusters never wait for each other.
	slices.SortFunc(out, func(a, b uniqueValue) int { return slices.Compare(a.hash, b.hash) })
	return slices.CompactFunc(out, func(a, b uniqueValue) bool { return slices.Equal(a.hash, b.hash) }), nil
}

// takeValues notes the unique values of a cluster instead of those that it had. It fails with
// Invalid and the problem of the parameter when another cluster has one of them.
func takeValues(ctx context.Context, tx *store.Tx, workspaceID, clusterID uuid.UUID, parameters schema.Schema, values store.Values) error {
	wanted, err := uniqueValues(ctx, tx, workspaceID, parameters, values)
	if err != nil {
		return err
	}
	kept := make([][]byte, 0, len(wanted))
	for _, v := range wanted {
		kept = append(kept, v.hash)
	}
	if err := tx.FreeParameterValues(ctx, store.FreeParameterValuesParams{ClusterID: clusterID, Kept: kept}); err != nil {
		return fmt.Errorf("free the unique values of cluster %s: %w", clusterID, err)
	}
	problems := map[string]fault.Message{}
	for _, v := range wanted {
		other, err := takeValue(ctx, tx, workspaceID, clusterID, v)
		if err != nil {
			return err
		}
		if other != "" {
			problems[ValueField(v.key)] = fault.Message{Key: "parameter.not_unique", Args: []any{other}}
		}
	}
	if len(problems) > 0 {
		return fault.Fields(problems)
	}
	return nil
}

// takeValue notes a unique value of a cluster, or tells the name of the cluster that has it.
func takeValue(ctx context.Context, tx *store.Tx, workspaceID, clusterID uuid.UUID, v uniqueValue) (other string, err error) {
	const tries = 3 // the holder may let go between the two statements
	for range tries {
		taken, err := tx.TakeParameterValue(ctx, store.TakeParameterValueParams{WorkspaceID: workspaceID, Key: v.key, Hash: v.hash, ClusterID: clusterID})
		if err != nil {
			return "", fmt.Errorf("take the value of %s for cluster %s: %w", v.key, clusterID, err)
		}
		if taken > 0 {
			return "", nil
		}
		row, err := holder(ctx, tx, workspaceID, v)
		switch {
		case err != nil || row.ID == clusterID:
			return "", err
		case row.ID != uuid.Nil:
			return row.Name, nil
		}
	}
	return "", fault.New(fault.Conflict, "parameter.unique")
}

// holder is the cluster that has a value; the zero row stands for none.
func holder(ctx context.Context, tx *store.Tx, workspaceID uuid.UUID, v uniqueValue) (store.HolderOfParameterValueRow, error) {
	row, err := tx.HolderOfParameterValue(ctx, store.HolderOfParameterValueParams{WorkspaceID: workspaceID, Key: v.key, Hash: v.hash})
	switch {
	case notThere(err):
		return store.HolderOfParameterValueRow{}, nil
	case err != nil:
		return row, fmt.Errorf("look who has the value of %s: %w", v.key, err)
	}
	return row, nil
}

// taken is what a preview knows of unique values.
type taken struct {
	wanted   []uniqueValue
	problems store.RenderErrors
}

// takenValues are the unique values that a cluster wants, with a problem for each that another has
// already or was promised. Who may not save is told nothing: values are secrets perhaps, and could
// be guessed by asking.
func (f *Fleet) takenValues(ctx context.Context, actor Actor, workspaceID, clusterID uuid.UUID, version store.ClusterTemplateVersion, values store.Values, promised *promises) (found taken, err error) {
	parameters, err := parametersOf(version)
	if err != nil || Allowed(actor, ClustersEdit, workspaceID) != nil {
		return found, err
	}
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		found = taken{}
		if found.wanted, err = uniqueValues(ctx, tx, workspaceID, parameters, values); err != nil {
			return err
		}
		for _, v := range found.wanted {
			other, err := holder(ctx, tx, workspaceID, v)
			if err != nil {
				return err
			}
			if earlier, is := promised.values[string(v.hash)]; is {
				other = store.HolderOfParameterValueRow{ID: earlier.ID, Name: earlier.Name}
			}
			if other.ID != uuid.Nil && other.ID != clusterID {
				found.problems = append(found.problems, store.RenderError{Section: v.key, Parameter: true, Key: "parameter.not_unique", Args: []any{other.Name}})
			}
		}
		return nil
	})
	return found, err
}
