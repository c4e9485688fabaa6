package simulation

import (
	"context"

	"commander/store"
)

// InsertChecks leaves no cluster out: what is found and what is written are one moment here.
func (r *rows) InsertChecks(_ context.Context, p store.InsertChecksParams) ([]store.Task, error) {
	var made []store.Task
	for i, id := range p.ClusterIds {
		cluster := r.cluster(id)
		made = append(made, r.insertTask(store.Task{
			ID: p.Ids[i], WorkspaceID: cluster.WorkspaceID, ClusterID: id, Kind: store.TaskCheck, Priority: p.Priority, Revision: cluster.Revision,
			CreatedBy: p.CreatedBy, Delivery: &p.Deliveries[i],
		}))
	}
	return made, nil
}

// CheckLoad is what the clusters ask for together, and how many checks wait.
func (r *rows) CheckLoad(context.Context) (store.CheckLoadRow, error) {
	var load store.CheckLoadRow
	for _, c := range r.clusters.rows {
		if c.ArchivedAt == nil && c.WasCreated {
			load.PerMinute += 1 / float64(c.CheckIntervalMinutes)
		}
	}
	for _, t := range r.tasks.rows {
		if t.Kind == store.TaskCheck && t.Status == store.TaskQueued {
			load.Waiting++
		}
	}
	return load, nil
}

func (c *connection) CheckLoad(ctx context.Context) (store.CheckLoadRow, error) {
	return one(ctx, c, "load", func(q store.Querier) (store.CheckLoadRow, error) { return q.CheckLoad(ctx) })
}
