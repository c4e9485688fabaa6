package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
		given: &given{workspace: store.Workspace{ID: uuid.New(), Slug: "demo", Name: "Demo"}},
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
size: {{ .size }}
`

// Options are what may be asked of a run beside its seed.
type Options struct {
	Fault string    // one of Planted; empty for none
	Trace io.Writer // gets a line for each thing that happens; nil for nobody
}

// Run lets a seed run in a bubble of time and returns the rule that was broken, and how it all ended.
func Run(t *testing.T, start Start, seed uint64, o Options) (problem, end string) {
	synctest.Test(t, func(*testing.T) {
		w := start.world(seed, o)
		m := &memory{rows: start.rows, watch: w.watch}
		w.database, w.queue = m, queue{}
		w.run()
		problem, end = w.problem, m.rows.summary()
	})
	return problem, end
}

func (s Start) world(seed uint64, o Options) *world {
	w := &world{
		chance: newChance(seed), keys: s.keys, fault: o.Fault, trace: o.Trace, began: time.Now(), clusters: map[string]*cluster{},
		executing: map[fleet.Delivery]*execution{}, succeeded: map[fleet.Delivery]bool{}, stopped: map[fleet.Delivery]bool{}, approved: map[string]bool{}, names: map[uuid.UUID]string{},
		stored: map[string]bool{}, numbers: map[numbered]int{},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	for _, c := range s.rows.clusters.rows {
		w.ids = append(w.ids, c.ID)
		w.clusters[c.ID.String()] = &cluster{}
		w.numbers[numbered{c.ID, 1}] = 1
	}
	return w
}

// summary is how a run ended, without ids and times.
func (r *rows) summary() string {
	var b strings.Builder
	for _, c := range r.clusters.rows {
		fmt.Fprintf(&b, "%s %s revision %d archived %v\n", c.Name, c.Status, c.Revision, c.ArchivedAt != nil)
		for _, task := range r.tasks.rows {
			if task.ClusterID == c.ID {
				b.WriteString(line(*task))
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
