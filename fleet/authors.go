package fleet

import (
	"context"

	"github.com/google/uuid"

	"commander/store"
)

// creator names who created a cluster; it is empty when the audit does not reach back so far.
func (f *Fleet) creator(ctx context.Context, cluster uuid.UUID) (string, error) {
	row, err := f.Store.CreatorOfCluster(ctx, cluster)
	if notThere(err) {
		return "", nil
	}
	return signed(row.ActorName, row.Owner), store.AsFault(err)
}

// archivers name who archived each of some clusters; those that the audit has forgotten are left out.
func (f *Fleet) archivers(ctx context.Context, clusters ...uuid.UUID) (map[uuid.UUID]string, error) {
	names := make(map[uuid.UUID]string, len(clusters))
	rows, err := f.Store.ArchiversOfClusters(ctx, clusters)
	for _, row := range rows {
		names[row.ObjectID] = signed(row.ActorName, row.Owner)
	}
	return names, store.AsFault(err)
}

// owner names who made the token that an actor is; it is empty for others, and for a token that is gone.
func owner(ctx context.Context, tx store.Querier, kind ActorType, id *uuid.UUID) (string, error) {
	if kind != ActorToken || id == nil {
		return "", nil
	}
	token, err := tx.AuthToken(ctx, *id)
	if notThere(err) {
		return "", nil
	}
	return token.CreatedBy, store.AsFault(err)
}
