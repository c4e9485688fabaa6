package simulation

import (
	"time"

	"commander/fleet"
	"commander/store"
)

// somebody may do everything.
var somebody = fleet.Actor{Type: fleet.ActorUser, Name: "somebody", Everywhere: store.RoleFull}

// person looks after one cluster: while things go wrong they do this and that, and afterwards they
// try again what failed until nothing is left to do.
func (w *world) person(i int) {
	name := "person-" + string(rune('a'+i))
	p := w.start(name)
	f := p.rules(name)
	id := w.ids[i]
	for !w.over() {
		time.Sleep(w.between(name, "pause", 5*time.Second, 100*time.Second))
		if w.over() {
			return
		}
		cluster, err := f.Store.Cluster(p.ctx, id)
		if err != nil {
			continue
		}
		tasks, err := f.Store.TasksOfCluster(p.ctx, store.TasksOfClusterParams{ClusterID: id, PageSize: 20})
		if err != nil {
			continue
		}
		switch {
		case w.faulty():
			w.whim(p, f, name, cluster, tasks)
		case w.rests(p, f, cluster, tasks):
			return
		case time.Since(w.began) > faultsFor+settleFor:
			w.fail("cluster %d never comes to rest: it is %s with %s", i, cluster.Status, told(tasks))
			return
		default:
			w.mend(p, f, cluster, tasks)
		}
	}
}

func told(tasks []store.Task) string {
	text := ""
	for _, task := range tasks {
		text += string(task.Kind) + " " + string(task.Status) + " " + task.Error + "; "
	}
	return text
}

// whim is something that people do. What is refused is no matter.
func (w *world) whim(p *process, f *fleet.Fleet, name string, cluster store.Cluster, tasks []store.Task) {
	switch w.of(name, "whim").below(8) {
	case 0, 1:
		_, _, _ = f.ChangeCluster(p.ctx, somebody, cluster.ID, fleet.ClusterChange{
			Revision: cluster.Revision, Name: cluster.Name, TemplateVersionID: *cluster.TemplateVersionID,
			Values: store.Values{"size": float64(w.of(name, "n").below(1000))}, Install: true,
		})
	case 3:
		if len(tasks) > 0 {
			task, err := f.StopTask(p.ctx, somebody, tasks[0].ID)
			if err == nil && task.Status == store.TaskRunning {
				w.locked(func() { w.stopped[fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}] = true })
			}
		}
	case 4:
		if w.in(name, "really", 3) {
			_, _, _ = f.DeleteCluster(p.ctx, somebody, cluster.ID)
		}
	case 5:
		for _, task := range tasks {
			_, _ = f.GiveUp(p.ctx, somebody, task.ID)
		}
	default:
		w.mend(p, f, cluster, tasks)
	}
}

// mend does the next thing that brings a cluster on.
func (w *world) mend(p *process, f *fleet.Fleet, cluster store.Cluster, tasks []store.Task) {
	for _, task := range tasks {
		switch task.Status {
		case store.TaskRunning:
			return // it goes on by itself
		case store.TaskWaitingApproval:
			w.locked(func() { w.approved[cluster.ID.String()+"/"+task.ChangeID] = true })
			_, _ = f.Approve(p.ctx, somebody, task.ID, task.ChangeID)
			return
		case store.TaskLost, store.TaskLostInCritical:
			if _, err := f.Retry(p.ctx, somebody, task.ID); err != nil {
				_, _ = f.GiveUp(p.ctx, somebody, task.ID)
			}
			return
		}
	}
	for _, task := range tasks {
		if task.Status == store.TaskQueued {
			return // so does it
		}
	}
	if len(tasks) == 0 || cluster.Status == store.ClusterNew {
		_, _ = f.InstallCluster(p.ctx, somebody, cluster.ID)
		return
	}
	for _, task := range tasks {
		if task.Kind == store.TaskCheck || task.Status == store.TaskSucceeded {
			continue
		}
		if _, err := f.Retry(p.ctx, somebody, task.ID); err == nil {
			return
		}
		break
	}
	_, _ = f.Converge(p.ctx, somebody, cluster.ID)
}

// rests reports whether nothing is left to do, and whether what is really there is what was wanted.
func (w *world) rests(p *process, f *fleet.Fleet, cluster store.Cluster, tasks []store.Task) bool {
	for _, task := range tasks {
		if is(task.Status, active...) {
			return false
		}
	}
	checks := 0
	for _, task := range tasks {
		if task.Kind == store.TaskCheck && task.Status == store.TaskSucceeded {
			checks++
		}
	}
	if checks > 1 {
		w.fail("cluster %s keeps %d checks that came to their end", cluster.Name, checks)
	}
	real := w.clusters[cluster.ID.String()]
	switch {
	case cluster.ArchivedAt != nil:
		if real.exists && cluster.LeftBehind == "" {
			w.fail("cluster %s is in the archive and still there", cluster.Name)
		}
		return true
	case real.drifted || cluster.Status != store.ClusterInSync || cluster.AppliedRevision == nil || *cluster.AppliedRevision != cluster.Revision:
		return false
	}
	wanted, err := f.Store.ClusterRevision(p.ctx, store.ClusterRevisionParams{ClusterID: cluster.ID, Revision: cluster.Revision})
	if err != nil {
		return false
	}
	if n := wanted.Parameters["size"]; !real.exists || float64(real.n) != n {
		w.fail("cluster %s counts as in sync at n=%v, and really is at n=%d, there: %v", cluster.Name, n, real.n, real.exists)
	}
	return true
}
