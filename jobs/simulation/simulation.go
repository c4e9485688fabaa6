package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
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
	keys, err := store.NewKeyring("test", map[string][]byte{"test": bytes.Repeat([]byte{7}, store.KeySize)})
	if err != nil {
		return Start{}, err
	}
	params := json.RawMessage(`[{"key": "size", "title": "Size", "type": "number", "default": 0}]`)
	template, version := uuid.New(), uuid.New()
	r := &rows{
		now: time.Now().UTC(), clusters: map[uuid.UUID]store.Cluster{}, states: map[uuid.UUID]store.ClusterState{},
		workspace: store.Workspace{ID: uuid.New(), Slug: "demo", Name: "Demo"},
	}
	r.template = store.ClusterTemplate{ID: template, WorkspaceID: r.workspace.ID, Name: "small", CurrentVersionID: &version}
	r.version = store.ClusterTemplateVersion{
		ID: version, TemplateID: template, Number: 1, Available: true, Params: params, ResourceGroups: store.ResourceGroups{},
		ClusterConfiguration: clusterConfiguration,
	}
	m := &memory{rows: r}
	w := &world{chance: newChance(0), database: m, keys: keys, queue: queue{}, began: time.Now().Add(-2 * faultsFor)}
	c := &connection{w: w, p: &process{w: w}, name: "setup"}
	f := &fleet.Fleet{Store: store.Over(c, keys, c.begin), Queue: w.queue, Clock: c.p, Log: quiet}
	for _, name := range []string{"a", "b"} {
		if _, _, err := f.CreateCluster(ctx, somebody, fleet.NewCluster{
			WorkspaceID: r.workspace.ID, Name: name, TemplateVersionID: version, Values: store.Values{"size": 1.0},
		}); err != nil {
			return Start{}, fmt.Errorf("make cluster %s: %w", name, err)
		}
	}
	return Start{rows: m.rows, keys: keys}, nil
}

const clusterConfiguration = `apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
kubernetesVersion: "1.37"
size: {{ .size }}
`

// Run lets a seed run in a bubble of time and returns the rule that was broken, and how it all ended.
func Run(t *testing.T, start Start, seed uint64, faults ...string) (problem, end string) {
	synctest.Test(t, func(*testing.T) {
		w := start.world(seed, faults)
		m := &memory{rows: start.rows.copied()}
		m.rows.faults = faults
		m.watch = w.watch
		w.database, w.queue = m, queue{}
		w.run()
		problem, end = w.problem, m.rows.summary()
	})
	return problem, end
}

func (s Start) world(seed uint64, faults planted) *world {
	w := &world{
		chance: newChance(seed), keys: s.keys, faults: faults, began: time.Now(), clusters: map[string]*cluster{},
		executing: map[fleet.Delivery]*execution{}, succeeded: map[fleet.Delivery]bool{}, names: map[uuid.UUID]string{},
		stored: map[string]bool{}, numbers: map[numbered]int{}, ids: s.rows.order,
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	for _, id := range s.rows.order {
		w.clusters[id.String()] = &cluster{}
		w.numbers[numbered{id, 1}] = 1
	}
	return w
}

// summary is how a run ended, without ids and times.
func (r *rows) summary() string {
	var b strings.Builder
	for _, id := range r.order {
		c := r.clusters[id]
		fmt.Fprintf(&b, "%s %s revision %d archived %v\n", c.Name, c.Status, c.Revision, c.ArchivedAt != nil)
		for _, task := range r.tasks {
			if task.ClusterID == id {
				b.WriteString(line(task))
			}
		}
	}
	return b.String()
}

func line(task store.Task) string {
	phases := ""
	for _, p := range task.Phases {
		phases += " " + p.Name + "=" + p.Status
	}
	return fmt.Sprintf("  %s %s attempt %d revision %d progress %.2f %s:%s\n", task.Kind, task.Status, task.Attempt, task.Revision, task.Progress, task.Error, phases)
}
