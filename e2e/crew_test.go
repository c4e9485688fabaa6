package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"commander/agents/lab"
	"commander/fleet"
	"commander/store"
)

// crew is a site with its background roles, in which operations can be held in a phase.
type crew struct {
	*site
	managing, working *exec.Cmd
}

// witness is what a test adds to the database: who passes from which status to which is written
// down, and an operation that has begun a phase waits there while somebody holds a lock.
const witness = `
create table witness_moves (id bigserial primary key, what text, was text, became text);
create function witness_move() returns trigger language plpgsql as $$
begin
	insert into witness_moves (what, was, became) values (tg_table_name, old.status, new.status);
	return null;
end $$;
create trigger witness_move after update of status on tasks for each row when (old.status <> new.status) execute function witness_move();
create trigger witness_move after update of status on clusters for each row when (old.status <> new.status) execute function witness_move();

create table witness_holds (kind text, phase text);
create function witness_hold() returns trigger language plpgsql as $$
begin
	if exists (select from witness_holds h where h.kind = new.kind and h.phase = new.phase) then
		perform pg_advisory_xact_lock_shared(20260730);
	end if;
	return new;
end $$;
create trigger witness_hold before update of phase on tasks for each row when (old.phase = new.phase) execute function witness_hold();
`

func newCrew(t *testing.T) *crew {
	t.Helper()
	c := &crew{site: newSite(t)}
	c.sql(witness)
	c.start(shared.program("commander"), "task-checker", "--keys-dir="+c.path("keys"))
	c.working = c.worker()
	c.managing = c.manager()
	return c
}

func (c *crew) worker() *exec.Cmd {
	return c.start(shared.program("commander"), "worker", "--keys-dir="+c.path("keys"))
}

func (c *crew) sql(statement string, args ...any) {
	c.t.Helper()
	if _, err := c.fleet.Store.Pool.Exec(c.t.Context(), statement, args...); err != nil {
		c.t.Fatalf("%s: %v", statement, err)
	}
}

// live takes a cluster through its life.
func (c *crew) live(name string, l life) {
	t := c.t
	t.Helper()
	wanted := c.fresh(name, store.Values{"kubernetesVersion": "1.36", "workerCount": 1})
	var cluster store.Cluster
	c.operate(store.TaskBootstrap, l.install, func() (task *store.Task, err error) {
		cluster, task, err = c.fleet.CreateCluster(t.Context(), fleet.System, wanted)
		return task, err
	})
	c.is(cluster.ID, "1.36", 2)

	c.operate(store.TaskConverge, l.change, func() (*store.Task, error) {
		now, err := c.fleet.Store.Cluster(t.Context(), cluster.ID)
		if err != nil {
			return nil, err
		}
		_, task, err := c.fleet.ChangeCluster(t.Context(), fleet.System, cluster.ID, fleet.ClusterChange{
			Revision: now.Revision, Name: name, TemplateVersionID: wanted.TemplateVersionID,
			Values: store.Values{"kubernetesVersion": "1.37", "workerCount": 2},
		})
		return task, err
	})
	c.is(cluster.ID, "1.37", 3)

	c.operate(store.TaskDestroy, l.remove, func() (*store.Task, error) {
		_, task, err := c.fleet.DeleteCluster(t.Context(), fleet.System, cluster.ID)
		return task, err
	})
	c.isGone(cluster.ID)
	wanted.Install = false
	if _, _, err := c.fleet.CreateCluster(t.Context(), fleet.System, wanted); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
	c.followedTheTables()
}

// operate begins an operation, kills somebody in a phase of it, and sees it to its goal.
func (c *crew) operate(kind store.TaskKind, k kill, begin func() (*store.Task, error)) {
	t := c.t
	t.Helper()
	release := c.hold(kind, k.phase)
	task, err := begin()
	if err != nil || task == nil || task.Kind != kind {
		t.Fatalf("begin a %s: got %+v, %v", kind, task, err)
	}
	what := fmt.Sprintf("%s with the %s killed in %s", kind, k.victim, k.phase)
	// A machine that is short of time may have made the worker hand the task to another attempt before.
	held := c.awaitHeld(what, task.ID)
	since := time.Now()
	// Less than the installer is patient: an API server that is coming up may not answer at all.
	before := c.machinesWithin(quietLimit/8, task.ClusterID)
	killed := false
	await(t, "the "+string(k.victim)+" is killed", 30*time.Second, func(context.Context) (_ bool, err error) {
		killed, err = end(c.find(k.victim, task.ClusterID))
		// An operation that was held for too long has ended itself, and comes again only when it is let go.
		return killed || k.victim == theOperation && time.Since(since) > quietLimit, err
	})
	if !killed {
		t.Logf("%s: it had ended by itself", what)
	}
	patience := killed && time.Since(since) < quietLimit/2
	release()
	c.replace(k.victim)
	now := c.awaitOver(what, task.ID)
	switch {
	case !patience && now.Status == store.TaskSucceeded:
		// Held for so long, the installer had stopped by itself before the kill, and was started again.
	case k.victim.silences():
		// The victim may have said that the phase is over while its word was held up: then the task is
		// lost in the next one, which nobody has let begin.
		want := store.TaskLost
		if slices.Contains(critical[kind], now.Phase) {
			want = store.TaskLostInCritical
		}
		if now.Status != want || now.Attempt != held || now.Phase != k.phase && now.Phase != after(kind, k.phase) {
			t.Fatalf("%s: got %s of phase %q in attempt %d, want %s", what, now.Status, now.Phase, now.Attempt, want)
		}
	case k.victim.harmless():
		if now.Status != store.TaskSucceeded || now.Attempt != held {
			t.Fatalf("%s: got %s in attempt %d (%s), want that nobody notices", what, now.Status, now.Attempt, now.Error)
		}
	case now.Status != store.TaskSucceeded && now.Status != store.TaskFailed:
		t.Fatalf("%s: got %s (%s), want that it succeeds or says what is wrong", what, now.Status, now.Error)
	}
	if now.Status != store.TaskSucceeded {
		if _, err := c.fleet.Retry(t.Context(), fleet.System, task.ID); err != nil {
			t.Fatalf("%s: retry: %v", what, err)
		}
		if now = c.awaitOver(what+", tried again", task.ID); now.Status != store.TaskSucceeded {
			t.Fatalf("%s: got %s (%s) from the retry", what, now.Status, now.Error)
		}
	}
	if kind == store.TaskDestroy {
		return
	}
	found := c.machines(task.ClusterID)
	for name, machine := range before {
		if found[name] != machine {
			t.Errorf("%s: machine %s was made anew", what, name)
		}
	}
}

// hold makes operations of a kind wait as soon as they have begun a phase; the installer works on in
// it, and can only not go on to the next. It returns what lets them go.
func (c *crew) hold(kind store.TaskKind, phase string) (release func()) {
	c.t.Helper()
	conn, err := c.fleet.Store.Pool.Acquire(c.t.Context())
	if err == nil {
		_, err = conn.Exec(c.t.Context(), "select pg_advisory_lock(20260730)")
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.sql("insert into witness_holds values ($1, $2)", kind, phase)
	released := false
	c.t.Cleanup(func() { // of a test that failed: the pool waits for its connections
		if !released {
			_ = conn.Conn().Close(context.Background())
			conn.Release()
		}
	})
	return func() {
		released = true
		c.sql("delete from witness_holds")
		_, err := conn.Exec(c.t.Context(), "select pg_advisory_unlock(20260730)")
		conn.Release()
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// awaitHeld waits until a task is held in the phase, and tells in which of its attempts.
func (c *crew) awaitHeld(what string, task uuid.UUID) (attempt int) {
	c.t.Helper()
	await(c.t, what+" has come to its phase", 2*time.Minute, func(ctx context.Context) (bool, error) {
		held := false
		err := c.fleet.Store.Pool.QueryRow(ctx, `select exists (select from pg_locks l join pg_database d on d.oid = l.database
			where d.datname = current_database() and l.locktype = 'advisory' and l.objid = 20260730 and not l.granted)`).Scan(&held)
		row, failed := c.fleet.Store.Task(ctx, task)
		if failed == nil && !held && fleet.Over(row.Task.Status) {
			c.t.Fatalf("%s: it is %s before that: %s", what, row.Task.Status, row.Task.Error)
		}
		attempt = row.Task.Attempt
		return held, errors.Join(err, failed)
	})
	return attempt
}

func (c *crew) awaitOver(what string, id uuid.UUID) (task store.Task) {
	c.t.Helper()
	// The lab gives a control plane three minutes to come up: an etcd that was killed while it wrote
	// its first files may never do.
	await(c.t, what+" is over", 5*time.Minute, func(ctx context.Context) (bool, error) {
		row, err := c.fleet.Store.Task(ctx, id)
		if err != nil {
			return false, err
		}
		task = row.Task
		return fleet.Over(task.Status), fmt.Errorf("it is %s in %s, attempt %d", task.Status, task.Phase, task.Attempt)
	})
	return task
}

// api reaches a cluster; nil while the lab does not know it.
func (c *crew) api(ctx context.Context, cluster uuid.UUID) *kubernetes.Clientset {
	c.t.Helper()
	client := lab.NewClient(c.path("lab.sock"))
	defer client.Close()
	kubeconfig, err := client.Kubeconfig(ctx, cluster.String())
	if err != nil {
		return nil
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		c.t.Fatal(err)
	}
	return api
}

// machines are the nodes of a cluster by name, each with what tells it from another of that name;
// empty while its API does not answer.
func (c *crew) machines(cluster uuid.UUID) map[string]string {
	c.t.Helper()
	return c.machinesWithin(5*time.Second, cluster)
}

func (c *crew) machinesWithin(bound time.Duration, cluster uuid.UUID) map[string]string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), bound)
	defer cancel()
	api := c.api(ctx, cluster)
	if api == nil {
		return nil
	}
	nodes, err := api.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	found := map[string]string{}
	for _, n := range nodes.Items {
		found[n.Name] = string(n.UID)
	}
	return found
}

// is looks at a cluster that must be whole: in sync, of a version, with so many machines and one of
// each process.
func (c *crew) is(id uuid.UUID, version string, machines int) {
	t := c.t
	t.Helper()
	cluster, err := c.fleet.Store.Cluster(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if cluster.Status != store.ClusterInSync || cluster.AppliedRevision == nil || *cluster.AppliedRevision != cluster.Revision {
		t.Errorf("it is %s with revision %v of %d applied", cluster.Status, cluster.AppliedRevision, cluster.Revision)
	}
	await(t, fmt.Sprintf("it has %d machines", machines), time.Minute, func(context.Context) (bool, error) {
		found := c.machines(id)
		return len(found) == machines, fmt.Errorf("it has %v", slices.Collect(maps.Keys(found)))
	})
	await(t, "it is of version "+version, time.Minute, func(ctx context.Context) (bool, error) {
		api := c.api(ctx, id)
		if api == nil {
			return false, nil
		}
		is, err := api.Discovery().ServerVersion()
		if err != nil {
			return false, err
		}
		return strings.HasPrefix(is.GitVersion, "v"+version+"."), fmt.Errorf("it is %s", is)
	})
	for _, word := range []string{"--data-dir", "--etcd-servers", "commander-agent", "ampg-connector"} {
		await(t, "one process with "+word+" runs", time.Minute, func(context.Context) (bool, error) {
			found := processesWith(word, id.String())
			return len(found) == 1, fmt.Errorf("processes %v", found)
		})
	}
}

// isGone looks for what is left of a cluster.
func (c *crew) isGone(id uuid.UUID) {
	t := c.t
	t.Helper()
	cluster, err := c.fleet.Store.Cluster(t.Context(), id)
	if err != nil || cluster.Status != store.ClusterDeleted || cluster.ArchivedAt == nil || cluster.LeftBehind != "" {
		t.Errorf("it is %s, archived %v, %q is left, %v", cluster.Status, cluster.ArchivedAt, cluster.LeftBehind, err)
	}
	await(t, "nothing of it is left", time.Minute, func(context.Context) (bool, error) {
		if left := processesWith(id.String()); len(left) > 0 {
			return false, fmt.Errorf("processes %v: %s", left, commandOf(left[0]))
		}
		var files []string
		err := filepath.WalkDir(c.dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.Contains(entry.Name(), id.String()) {
				files = append(files, path)
			}
			return nil // what vanishes while we look is fine
		})
		if err == nil && len(files) > 0 {
			err = fmt.Errorf("files %v", files)
		}
		return err == nil, err
	})
}

// followedTheTables reads what the witness saw.
func (c *crew) followedTheTables() {
	t := c.t
	t.Helper()
	rows, err := c.fleet.Store.Pool.Query(t.Context(), "select what, was, became from witness_moves order by id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	moves := 0
	for rows.Next() {
		var what, was, became string
		if err := rows.Scan(&what, &was, &became); err != nil {
			t.Fatal(err)
		}
		moves++
		allowed := fleet.CanBecome(store.TaskStatus(was), store.TaskStatus(became))
		if what == "clusters" {
			allowed = fleet.ClusterCanBecome(store.ClusterStatus(was), store.ClusterStatus(became))
		}
		if !allowed {
			t.Errorf("of %s: %s became %s", what, was, became)
		}
	}
	if err := rows.Err(); err != nil || moves == 0 {
		t.Errorf("the witness saw %d moves, %v", moves, err)
	}
}
