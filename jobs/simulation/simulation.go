package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
)

// Start is what all runs begin with: clusters that wait for their installation.
type Start struct {
	rows *rows
	keys *store.Keyring
}

// Prepare makes it, once for many runs.
func Prepare(ctx context.Context) (Start, error) {
	keys, err := keyring()
	if err != nil {
		return Start{}, err
	}
	m := &memory{rows: &rows{given: givenRows()}}
	_, err = install(ctx, m, queue{}, keys, m.rows.given)
	return Start{rows: m.rows, keys: keys}, err
}

func keyring() (*store.Keyring, error) {
	return store.NewKeyring("test", map[string][]byte{"test": bytes.Repeat([]byte{7}, store.KeySize)})
}

func givenRows() *given {
	template, version := uuid.New(), uuid.New()
	g := &given{workspace: store.Workspace{ID: uuid.New(), Slug: "demo", Name: "Demo"}}
	g.template = store.ClusterTemplate{ID: template, WorkspaceID: g.workspace.ID, Name: "small", CurrentVersionID: &version}
	g.version = store.ClusterTemplateVersion{
		ID: version, TemplateID: template, Number: 1, Available: true, ResourceGroups: store.ResourceGroups{}, ClusterConfiguration: clusterConfiguration,
		Params: json.RawMessage(`[{"key": "size", "title": "Size", "type": "number", "default": 0}]`),
	}
	return g
}

// install makes the clusters and returns their ids.
func install(ctx context.Context, db database, jobs fleet.Queue, keys *store.Keyring, g *given) ([]uuid.UUID, error) {
	w := &world{chance: newChance(0), database: db, keys: keys, queue: jobs, began: time.Now().Add(-2 * faultsFor)}
	f := (&process{w: w}).rules("setup")
	var ids []uuid.UUID
	for _, name := range []string{"a", "b"} {
		cluster, _, err := f.CreateCluster(ctx, somebody, fleet.NewCluster{
			WorkspaceID: g.workspace.ID, Name: name, TemplateVersionID: g.version.ID, Values: store.Values{"size": 1.0},
		})
		if err != nil {
			return nil, fmt.Errorf("make cluster %s: %w", name, err)
		}
		ids = append(ids, cluster.ID)
	}
	return ids, nil
}

const clusterConfiguration = `apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
size: {{ .size }}
`

// Options are what may be asked of a run beside its seed.
type Options struct {
	Fault string    // one of Planted; empty for none
	Trace io.Writer // gets a line for each thing that happens; nil for nobody
}

// Ended is what became of a run.
type Ended struct {
	// Problem is the rule that was broken; empty when none was.
	Problem string

	rows  *rows
	began time.Time
	keys  *store.Keyring
}

// Run lets a seed run in a bubble of time.
func Run(t *testing.T, start Start, seed uint64, o Options) (end Ended) {
	synctest.Test(t, func(*testing.T) {
		var clusters []uuid.UUID
		for _, c := range start.rows.clusters.rows {
			clusters = append(clusters, c.ID)
		}
		w := newWorld(start.keys, clusters, seed, o)
		m := &memory{rows: start.rows, watch: w.watch}
		w.database, w.queue = m, queue{}
		w.run()
		end = Ended{w.problem, m.rows, w.began, w.keys}
	})
	return end
}

func newWorld(keys *store.Keyring, clusters []uuid.UUID, seed uint64, o Options) *world {
	w := &world{
		chance: newChance(seed), keys: keys, fault: o.Fault, trace: o.Trace, began: time.Now(), ids: clusters, clusters: map[string]*cluster{},
		executing: map[fleet.Delivery]*execution{}, succeeded: map[fleet.Delivery]bool{}, stopped: map[fleet.Delivery]bool{}, differed: map[fleet.Delivery]bool{},
		approved: map[string]bool{}, names: map[uuid.UUID]string{}, stored: map[string]bool{},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	for _, id := range clusters {
		w.clusters[id.String()] = &cluster{}
	}
	return w
}
