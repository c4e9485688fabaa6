package fleet

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// KubeTokenLifetime is how long a kubeconfig works.
const KubeTokenLifetime = 8 * time.Hour

// KubeTokenPrefix begins the token in a kubeconfig.
const KubeTokenPrefix = "cmdk_"

// KubeToken is what a kubeconfig is made of.
type KubeToken struct {
	Secret    string
	ExpiresAt time.Time
	Cluster   store.Cluster
}

// NewKubeToken lets the actor reach a cluster's API server through Commander for a while. The
// token is bound to the actor and the cluster, and is told only now. It fails with Conflict when
// the cluster has no API server yet or any more.
func (f *Fleet) NewKubeToken(ctx context.Context, actor Actor, id uuid.UUID) (KubeToken, error) {
	out := KubeToken{Secret: store.NewSecret(KubeTokenPrefix)}
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		cluster, workspace, err := clusterForUpdate(ctx, tx, actor, ClustersConnect, id)
		if err != nil {
			return err
		}
		if !cluster.WasCreated || cluster.ArchivedAt != nil {
			return fault.New(fault.Conflict, "cluster.no_api", cluster.Name)
		}
		row := store.InsertKubeTokenParams{ClusterID: id, Hash: store.Hash(out.Secret), Lifetime: KubeTokenLifetime}
		switch actor.Type {
		case ActorUser:
			row.UserID = &actor.ID
		case ActorToken:
			row.AuthTokenID = &actor.ID
		default:
			return fault.New(fault.Forbidden, "fault.forbidden")
		}
		token, err := tx.InsertKubeToken(ctx, row)
		if err != nil {
			return err
		}
		out.ExpiresAt, out.Cluster = token.ExpiresAt, cluster
		return f.audit(ctx, tx, actor, change{
			Action: "cluster.kubeconfig", ObjectType: "Cluster", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"expires_at": token.ExpiresAt},
		})
	})
	return out, err
}

// KubeActor is who the token of a kubeconfig acts as on its cluster, with the rights that the
// person or token has now. It fails with Unauthenticated when the token is not for this cluster,
// revoked or over, or when whoever it was made for may not see the cluster any more.
func (f *Fleet) KubeActor(ctx context.Context, clusterID uuid.UUID, secret string) (Actor, store.Role, error) {
	unknown := fault.New(fault.Unauthenticated, "fault.token")
	if !strings.HasPrefix(secret, KubeTokenPrefix) {
		return Actor{}, "", unknown
	}
	token, err := f.Store.KubeTokenByHash(ctx, store.KubeTokenByHashParams{Hash: store.Hash(secret), ClusterID: clusterID})
	if notThere(err) {
		return Actor{}, "", unknown
	}
	if err != nil {
		return Actor{}, "", store.AsFault(err)
	}
	actor, err := f.holder(ctx, token)
	if err != nil {
		return Actor{}, "", err
	}
	cluster, err := f.cluster(ctx, actor, ClustersConnect, clusterID)
	if err != nil || cluster.ArchivedAt != nil {
		return Actor{}, "", unknown
	}
	if err := f.Store.TouchKubeToken(ctx, token.ID); err != nil {
		return Actor{}, "", store.AsFault(err)
	}
	return actor, actor.Role(cluster.WorkspaceID), nil
}

func (f *Fleet) holder(ctx context.Context, token store.KubeToken) (Actor, error) {
	if token.UserID != nil {
		user, err := f.Store.User(ctx, *token.UserID)
		if err != nil {
			return Actor{}, store.AsFault(err)
		}
		return f.userActor(ctx, user)
	}
	owner, err := f.Store.AuthToken(ctx, *token.AuthTokenID)
	if err != nil {
		return Actor{}, store.AsFault(err)
	}
	if owner.RevokedAt != nil || owner.ExpiresAt != nil && owner.ExpiresAt.Before(f.Clock.Now()) {
		return Actor{}, fault.New(fault.Unauthenticated, "fault.token")
	}
	return Actor{Type: ActorToken, ID: owner.ID, Name: owner.Name, Roles: map[uuid.UUID]store.Role{owner.WorkspaceID: owner.Role}}, nil
}

// RevokeKubeTokens voids the actor's kubeconfigs of a cluster, or everybody's, and reports how many.
func (f *Fleet) RevokeKubeTokens(ctx context.Context, actor Actor, id uuid.UUID, everybody bool) (int64, error) {
	var revoked int64
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		permission := ClustersConnect
		if everybody {
			permission = ClustersEdit
		}
		_, workspace, err := clusterForUpdate(ctx, tx, actor, permission, id)
		if err != nil {
			return err
		}
		if everybody {
			revoked, err = tx.RevokeKubeTokensOfCluster(ctx, id)
		} else {
			revoked, err = tx.RevokeKubeTokensOfUser(ctx, store.RevokeKubeTokensOfUserParams{ClusterID: id, UserID: &actor.ID})
		}
		if err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "cluster.kubeconfig.revoke", ObjectType: "Cluster", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"revoked": revoked, "everybody": everybody},
		})
	})
	return revoked, err
}
