package fleet

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// historyLength is how many configurations of a cluster its history has at once unless told otherwise.
const historyLength = 200

// HistoryFilter chooses configurations of a cluster's history.
type HistoryFilter struct {
	Search      string // in who made them and in the name of the template
	OldestFirst bool   // turns the order, in which the newest come first
	// Limit bounds them; 0 means the usual number.
	Limit, Start int
}

// Past is a configuration that a cluster was to have, with the parameters that it had before.
// Parameters that are secret are in neither.
type Past struct {
	store.ClusterRevisionsRow
	Before store.Values
}

// History is a page of the configurations that a cluster was to have, and how many the filter lets
// through.
func (f *Fleet) History(ctx context.Context, actor Actor, id uuid.UUID, filter HistoryFilter) (store.Cluster, []Past, int, error) {
	cluster, err := f.cluster(ctx, actor, ClustersView, id)
	if err != nil {
		return cluster, nil, 0, err
	}
	if filter.Limit == 0 {
		filter.Limit = historyLength
	}
	rows, err := f.Store.ClusterRevisions(ctx, store.ClusterRevisionsParams{
		ClusterID: id, Search: filter.Search, OldestFirst: filter.OldestFirst, PageSize: filter.Limit, PageOffset: filter.Start,
	})
	if err != nil {
		return cluster, nil, 0, store.AsFault(err)
	}
	past, total := make([]Past, len(rows)), 0
	for i, row := range rows {
		past[i].ClusterRevisionsRow, total = row, int(row.Total)
		if err := json.Unmarshal(row.ParametersBefore, &past[i].Before); err != nil {
			return cluster, nil, 0, fmt.Errorf("read the parameters before revision %d: %w", row.Revision, err)
		}
	}
	return cluster, past, total, nil
}

// ConfigurationAt opens an earlier configuration of a cluster, to be compared with the wanted one.
// Its Values hold secrets: show Shown.
func (f *Fleet) ConfigurationAt(ctx context.Context, actor Actor, id uuid.UUID, revision int) (Configuration, error) {
	if _, err := f.cluster(ctx, actor, ClustersView, id); err != nil {
		return Configuration{}, err
	}
	return f.configuration(ctx, f.Store.Querier, id, revision)
}

// Rollback makes an earlier configuration the wanted one again: its parameters, secrets included,
// and its version of the template, as a new revision. current is the revision that the person
// looked at. It fails as ChangeCluster does, and with Conflict when there is nothing to return to.
func (f *Fleet) Rollback(ctx context.Context, actor Actor, id uuid.UUID, current, to int) (store.Cluster, *store.Task, error) {
	cluster, err := f.cluster(ctx, actor, ClustersEdit, id)
	if err != nil {
		return cluster, nil, err
	}
	if to >= cluster.Revision {
		return cluster, nil, fault.New(fault.Conflict, "cluster.rollback.nothing")
	}
	earlier, err := f.configuration(ctx, f.Store.Querier, id, to)
	if err != nil {
		return cluster, nil, err
	}
	if earlier.TemplateVersionID == nil {
		return cluster, nil, fault.New(fault.Conflict, "cluster.rollback.no_template")
	}
	if _, err := f.version(ctx, cluster.WorkspaceID, *earlier.TemplateVersionID); fault.Is(err, fault.Invalid) {
		return cluster, nil, fault.New(fault.Conflict, "cluster.rollback.no_template") // it stayed in another workspace
	} else if err != nil {
		return cluster, nil, err
	}
	return f.ChangeCluster(ctx, actor, id, ClusterChange{
		Revision: current, Name: cluster.Name, TemplateVersionID: *earlier.TemplateVersionID, Values: earlier.Values,
		Explicit: earlier.GivenKeys(),
	})
}
