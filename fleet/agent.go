package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// AgentTokenPrefix begins the token of a cluster's agent.
const AgentTokenPrefix = "cmda_"

// newAgentToken gives a cluster's agent a token; the one before it stays valid for the hand-over.
func (f *Fleet) newAgentToken(ctx context.Context, tx *store.Tx, clusterID uuid.UUID) (string, error) {
	secret := store.NewSecret(AgentTokenPrefix)
	if _, err := tx.InsertAgentToken(ctx, store.InsertAgentTokenParams{ClusterID: clusterID, Hash: store.Hash(secret)}); err != nil {
		return "", fmt.Errorf("write a token for the agent of cluster %s: %w", clusterID, err)
	}
	if _, err := tx.RevokeOlderAgentTokens(ctx, clusterID); err != nil {
		return "", fmt.Errorf("revoke old tokens of the agent of cluster %s: %w", clusterID, err)
	}
	return secret, nil
}

// AgentCluster is the cluster whose agent holds the token. It fails with Unauthenticated when the
// token is not for this cluster, is revoked, or the cluster is archived.
func (f *Fleet) AgentCluster(ctx context.Context, clusterID uuid.UUID, secret string) (store.Cluster, error) {
	unknown := fault.New(fault.Unauthenticated, "fault.token")
	if !strings.HasPrefix(secret, AgentTokenPrefix) {
		return store.Cluster{}, unknown
	}
	_, err := f.Store.AgentTokenByHash(ctx, store.AgentTokenByHashParams{Hash: store.Hash(secret), ClusterID: clusterID})
	if notThere(err) {
		return store.Cluster{}, unknown
	}
	if err != nil {
		return store.Cluster{}, store.AsFault(err)
	}
	cluster, err := f.Store.Cluster(ctx, clusterID)
	return cluster, store.AsFault(err)
}

// AgentConfiguration is what the agent of a cluster has to keep in it.
type AgentConfiguration struct {
	ETag     string
	Revision int
	Groups   []store.RenderedGroup
}

// AgentConfiguration opens the wanted resource groups of a cluster, after the one of Commander's
// own. The agent does not wait for changes of the infrastructure.
func (f *Fleet) AgentConfiguration(ctx context.Context, clusterID uuid.UUID) (AgentConfiguration, error) {
	cluster, err := f.Store.Cluster(ctx, clusterID)
	if err != nil {
		return AgentConfiguration{}, store.AsFault(err)
	}
	wanted, err := f.configuration(ctx, f.Store.Querier, clusterID, cluster.Revision)
	if err != nil {
		return AgentConfiguration{}, err
	}
	kept, err := controlled(ctx, f.Store.Querier, cluster, wanted.Rendering.Real.Groups)
	if err != nil {
		return AgentConfiguration{}, err
	}
	groups := append([]store.RenderedGroup{accessGroup()}, kept...)
	out := AgentConfiguration{Revision: cluster.Revision, Groups: groups}
	out.ETag, err = etag(out.Groups)
	return out, err
}

func etag(groups []store.RenderedGroup) (string, error) {
	body, err := json.Marshal(groups)
	if err != nil {
		return "", fmt.Errorf("encode resource groups: %w", err)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16]), nil
}

// AgentReport is what an agent tells, in our own words.
type AgentReport struct {
	AgentVersion, KubernetesVersion string
	AppliedETag                     string
	CPUCores, MemoryGiB             float64
	RootDiskGiB, PVCGiB             float64
	Nodes                           store.AgentNodes
	Objects                         store.AgentObjects
	// Failed says that an object could not be kept as declared.
	Failed bool
}

// TakeReport stores what an agent tells, without the secrets of the cluster. Pages hear of it
// only when it tells something new or after a silence.
func (f *Fleet) TakeReport(ctx context.Context, clusterID uuid.UUID, r AgentReport) error {
	wanted, err := f.AgentConfiguration(ctx, clusterID)
	if err != nil {
		return err
	}
	state := store.SyncConfigured
	switch {
	case r.AppliedETag != wanted.ETag:
		state = store.SyncApplying
	case r.Failed:
		state = store.SyncNotConfigured
	}
	if r.Objects, err = f.redactObjects(ctx, clusterID, r.Objects); err != nil {
		return err
	}
	body, err := json.Marshal([]any{r, state})
	if err != nil {
		return fmt.Errorf("encode the report of cluster %s: %w", clusterID, err)
	}
	sum := sha256.Sum256(body)
	touched, err := f.Store.TouchAgentReport(ctx, store.TouchAgentReportParams{ClusterID: clusterID, Fingerprint: sum[:]})
	if err != nil {
		return store.AsFault(err)
	}
	if touched > 0 {
		f.Store.Publish(store.ClusterTopic(clusterID))
		return nil
	}
	if r.Nodes == nil {
		r.Nodes = store.AgentNodes{}
	}
	if r.Objects == nil {
		r.Objects = store.AgentObjects{}
	}
	return f.Store.InTx(ctx, func(tx *store.Tx) error {
		cluster, err := tx.Cluster(ctx, clusterID)
		if err != nil {
			return err
		}
		tx.Changed(store.ClusterTopic(clusterID), store.WorkspaceClustersTopic(cluster.WorkspaceID))
		return tx.PutAgentReport(ctx, store.PutAgentReportParams{
			ClusterID: clusterID, AgentVersion: r.AgentVersion, KubernetesVersion: r.KubernetesVersion, ConfigEtag: r.AppliedETag,
			SyncState: state, CpuCores: r.CPUCores, MemoryGib: r.MemoryGiB, RootDiskGib: r.RootDiskGiB, PvcGib: r.PVCGiB,
			NodeCount: len(r.Nodes), Nodes: r.Nodes, Objects: r.Objects, Fingerprint: sum[:],
		})
	})
}
