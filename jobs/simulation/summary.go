package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"commander/store"
)

// String is how a run ended: all rows, with what no two runs have alike told by its name. Times are told
// since the run began.
func (e Ended) String() string {
	var b strings.Builder
	r := e.rows.inOrder()
	since := func(t *time.Time) string {
		if t == nil {
			return "never"
		}
		if d := t.Sub(e.began); d >= 0 && d < 100*time.Hour {
			return d.String()
		}
		return "before"
	}
	for _, c := range r.clusters.rows {
		fmt.Fprintf(&b, "%s %s revision %d applied %d at %s, checked %s, created %v, change %q, left %q, changed %s, archived %s\n",
			c.Name, c.Status, c.Revision, number(c.AppliedRevision), since(c.AppliedAt), since(c.CheckedAt), c.WasCreated, c.DestructiveChangeID,
			c.LeftBehind, since(&c.ChangedAt), since(c.ArchivedAt))
		for _, row := range r.revisions.rows {
			if row.ClusterID == c.ID {
				fmt.Fprintf(&b, "  revision %d by %s: %v\n", row.Revision, row.CreatedBy, row.Parameters)
			}
		}
		for _, state := range r.states.rows {
			if state.ClusterID == c.ID {
				body, err := e.keys.Unseal("cluster_states", "state", c.ID, state.State, state.StateKey)
				fmt.Fprintf(&b, "  state of attempt %d in %s at %s: %s %v\n", state.Attempt, state.Phase, since(&state.WrittenAt), r.anonymous(body), err)
			}
		}
		for _, task := range r.tasks.rows {
			if task.ClusterID == c.ID {
				r.tellTask(&b, task, since)
			}
		}
	}
	// Several are written in one transaction, at one time: what was written counts, not in which order.
	var audits []string
	for _, a := range r.audits.rows {
		audits = append(audits, fmt.Sprintf("%s %s %s: %s\n", a.ActorName, a.Action, a.ObjectType, r.anonymous(a.Changes)))
	}
	slices.Sort(audits)
	return b.String() + strings.Join(audits, "")
}

// inOrder sorts what was made at one moment, which two databases give in any order.
func (r *rows) inOrder() *rows {
	names := map[uuid.UUID]string{}
	for _, c := range r.clusters.rows {
		names[c.ID] = c.Name
	}
	sorted := *r
	sorted.tasks.rows = slices.Clone(r.tasks.rows)
	slices.SortStableFunc(sorted.tasks.rows, func(a, b *store.Task) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(names[a.ClusterID], names[b.ClusterID]), cmp.Compare(a.Kind, b.Kind))
	})
	sorted.revisions.rows = slices.Clone(r.revisions.rows)
	slices.SortStableFunc(sorted.revisions.rows, func(a, b *store.ClusterRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	return &sorted
}

func (r *rows) tellTask(b *strings.Builder, t *store.Task, since func(*time.Time) string) {
	fmt.Fprintf(b, "  %s %s priority %d revision %d attempt %d by %s of %s, progress %.3f, in %s %s critical %v, stop %v, error %q, change %q, result %s\n",
		t.Kind, t.Status, t.Priority, t.Revision, t.Attempt, t.Worker, t.CreatedBy, t.Progress, t.Phase, t.SubPhase, t.PhaseCritical,
		t.StopRequested, t.Error, t.ChangeID, r.anonymous(t.Result))
	fmt.Fprintf(b, "    created %s, changed %s, started %s, beat %s, finished %s, delivered %v\n",
		since(&t.CreatedAt), since(&t.ChangedAt), since(t.StartedAt), since(t.HeartbeatAt), since(t.FinishedAt), t.Delivery != nil)
	for _, p := range t.Phases {
		fmt.Fprintf(b, "    %s %s from %s to %s\n", p.Name, p.Status, since(p.StartedAt), since(p.FinishedAt))
	}
	for _, job := range r.jobs.rows {
		if job.task == t.ID {
			fmt.Fprintf(b, "    delivery %d of attempt %d: %s\n", job.id, job.attempt, job.state)
		}
	}
}

func number(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// anonymous is JSON in one order of keys, with tasks told by their place and other ids left out.
func (r *rows) anonymous(body []byte) string {
	text := ids.ReplaceAllStringFunc(string(body), func(id string) string {
		for i, task := range r.tasks.rows {
			if task.ID.String() == id {
				return fmt.Sprint("task ", i)
			}
		}
		return "id"
	})
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	out, _ := json.Marshal(value)
	return string(out)
}
