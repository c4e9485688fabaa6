package fleet

import (
	"context"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// historyLength is how many configurations of a cluster its history shows.
const historyLength = 200

// History lists the configurations that a cluster was to have, the newest first. Parameters that
// are secret are not among them.
func (f *Fleet) History(ctx context.Context, actor Actor, id uuid.UUID) (store.Cluster, []store.ClusterRevisionsRow, error) {
	cluster, err := f.cluster(ctx, actor, ClustersView, id)
	if err != nil {
		return cluster, nil, err
	}
	rows, err := f.Store.ClusterRevisions(ctx, store.ClusterRevisionsParams{ClusterID: id, PageSize: historyLength})
	return cluster, rows, store.AsFault(err)
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
