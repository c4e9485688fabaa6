package fleet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

const (
	plainOne = "- {key: count, type: number, title: Workers, default: 1}\n"
	plainTwo = "- {key: count, type: number, title: Workers, default: 2}\n"
)

// fleetOf makes installed clusters on a version.
func fleetOf(t *testing.T, b *fleettest.Bench, version store.ClusterTemplateVersion, n int) []fleet.SwitchTarget {
	t.Helper()
	targets := make([]fleet.SwitchTarget, n)
	for i := range targets {
		cluster := on(t, b, version, fmt.Sprintf("c%02d", i), nil)
		targets[i] = fleet.SwitchTarget{ID: cluster.ID, Revision: cluster.Revision}
	}
	return targets
}

func begin(t *testing.T, b *fleettest.Bench, plan fleet.SwitchPlan) store.BulkSwitch {
	t.Helper()
	move, err := b.SwitchClusters(t.Context(), b.Admin, plan)
	require.NoError(t, err)
	return move
}

func view(t *testing.T, b *fleettest.Bench, id uuid.UUID) fleet.SwitchView {
	t.Helper()
	v, err := b.BulkSwitch(t.Context(), b.Viewer, id, fleet.SwitchFilter{})
	require.NoError(t, err)
	return v
}

// look lets the job of a move look at it once.
func look(t *testing.T, b *fleettest.Bench, id uuid.UUID) bool {
	t.Helper()
	done, err := b.ContinueSwitch(t.Context(), id)
	require.NoError(t, err)
	return done
}

// states are what the clusters of a move are at, in the order of the plan.
func states(v fleet.SwitchView) []store.SwitchState {
	out := make([]store.SwitchState, len(v.Clusters))
	for i, line := range v.Clusters {
		out[i] = line.Status
	}
	return out
}

// finish ends the change of a cluster of a move.
func finish(t *testing.T, b *fleettest.Bench, line fleet.SwitchLine, status store.TaskStatus) {
	t.Helper()
	row, err := b.Store.Task(t.Context(), *line.TaskID)
	require.NoError(t, err)
	b.Run(t, row.Task, status)
}

// hold checks what is always true of a move: never more than allowed runs, and nothing runs or waits
// before a wave that was begun.
func hold(t *testing.T, v fleet.SwitchView) {
	t.Helper()
	running, begun := 0, 0
	for _, line := range v.Clusters {
		if line.Status == store.SwitchRuns {
			running++
		}
		if line.StartedAt != nil {
			begun = max(begun, line.Wave)
		}
	}
	require.LessOrEqual(t, running, v.Parallel)
	for _, line := range v.Clusters {
		open := line.Status == store.SwitchRuns || line.Status == store.SwitchWaits
		require.False(t, open && line.Wave < begun, "wave %d was begun while %s of wave %d is %s", begun, line.Name, line.Wave, line.Status)
	}
}

func TestClustersMoveInWaves(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne, plainTwo)
	targets := fleetOf(t, b, v[0], 8)
	move := begin(t, b, fleet.SwitchPlan{VersionID: v[1].ID, Clusters: targets, WaveSize: 3, Parallel: 2})
	random := rand.New(rand.NewPCG(1, 2))
	var most, rounds int
	for !look(t, b, move.ID) {
		now := view(t, b, move.ID)
		hold(t, now)
		running := slices.DeleteFunc(slices.Clone(now.Clusters), func(l fleet.SwitchLine) bool { return l.Status != store.SwitchRuns })
		require.NotEmpty(t, running, "it goes on or is done")
		most = max(most, len(running))
		finish(t, b, running[random.IntN(len(running))], store.TaskSucceeded)
		rounds++
	}
	require.Equal(t, 2, most)
	require.Equal(t, 8, rounds)
	end := view(t, b, move.ID)
	require.Equal(t, store.SwitchFinished, end.Status)
	require.NotNil(t, end.FinishedAt)
	require.Equal(t, map[store.SwitchState]int64{store.SwitchDone: 8}, end.Counts)
	for _, target := range targets {
		cluster := current(t, b, target.ID)
		require.Equal(t, v[1].ID, *cluster.TemplateVersionID)
		require.Equal(t, 2, cluster.Revision)
	}
	require.True(t, look(t, b, move.ID), "a job that comes late finds nothing to do")
	rows, _, err := b.BulkSwitches(t.Context(), b.Viewer, v[0].TemplateID, fleet.SwitchesFilter{})
	require.NoError(t, err)
	require.Equal(t, []int64{8, 8, 0, 0}, []int64{rows[0].Clusters, rows[0].Done, rows[0].Failed, rows[0].Refused})
}

func TestAMoveStopsAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	for _, stop := range []bool{true, false} {
		t.Run(fmt.Sprint(stop), func(t *testing.T) {
			t.Parallel()
			b := fleettest.New(t)
			v := family(t, b, "team", plainOne, plainTwo)
			move := begin(t, b, fleet.SwitchPlan{VersionID: v[1].ID, Clusters: fleetOf(t, b, v[0], 4), WaveSize: 2, Parallel: 2, StopAtFailure: stop})
			look(t, b, move.ID)
			now := view(t, b, move.ID)
			finish(t, b, now.Clusters[0], store.TaskFailed)
			require.False(t, look(t, b, move.ID), "the other one of the wave still runs")
			now = view(t, b, move.ID)
			if !stop {
				require.Equal(t, store.SwitchRunning, now.Status)
				finish(t, b, now.Clusters[1], store.TaskSucceeded)
				look(t, b, move.ID)
				require.Equal(t, []store.SwitchState{store.SwitchFailed, store.SwitchDone, store.SwitchRuns, store.SwitchRuns}, states(view(t, b, move.ID)))
				return
			}
			require.Equal(t, store.SwitchStopping, now.Status)
			require.Equal(t, []store.SwitchState{store.SwitchFailed, store.SwitchRuns, store.SwitchSkipped, store.SwitchSkipped}, states(now))
			require.Equal(t, &fault.Message{Key: "cluster.switch.stopped", Args: []any{"c00"}}, now.Clusters[2].Reason)
			require.Equal(t, &fault.Message{Key: "cluster.switch.task_failed"}, now.Clusters[0].Reason)
			_, err := b.CancelSwitch(t.Context(), b.Admin, move.ID)
			key, _ := conflict(t, err)
			require.Equal(t, "cluster.switch.over", key)
			finish(t, b, now.Clusters[1], store.TaskSucceeded)
			require.True(t, look(t, b, move.ID))
			now = view(t, b, move.ID)
			require.Equal(t, store.SwitchStopped, now.Status)
			require.Equal(t, []store.SwitchState{store.SwitchFailed, store.SwitchDone, store.SwitchSkipped, store.SwitchSkipped}, states(now))
			require.Equal(t, 1, current(t, b, now.Clusters[3].ClusterID).Revision, "what was skipped is as it was")
		})
	}
}

func TestAMoveIsCancelled(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne, plainTwo)
	move := begin(t, b, fleet.SwitchPlan{VersionID: v[1].ID, Clusters: fleetOf(t, b, v[0], 3), WaveSize: 1, Parallel: 1})
	look(t, b, move.ID)
	for actor, kind := range map[*fleet.Actor]fault.Kind{&b.Viewer: fault.Forbidden, &b.Stranger: fault.NotFound} {
		_, err := b.CancelSwitch(t.Context(), *actor, move.ID)
		require.Equal(t, kind, fault.KindOf(err))
	}
	_, err := b.CancelSwitch(t.Context(), b.Admin, move.ID)
	require.NoError(t, err)
	require.False(t, look(t, b, move.ID), "what runs goes on")
	now := view(t, b, move.ID)
	require.Equal(t, []store.SwitchState{store.SwitchRuns, store.SwitchSkipped, store.SwitchSkipped}, states(now))
	finish(t, b, now.Clusters[0], store.TaskFailed)
	require.True(t, look(t, b, move.ID))
	require.Equal(t, store.SwitchCancelled, view(t, b, move.ID).Status)
	_, err = b.BulkSwitch(t.Context(), b.Stranger, move.ID, fleet.SwitchFilter{})
	require.True(t, fault.Is(err, fault.NotFound))
}

// TestWhatHappensToClustersMeanwhile lets a wave begin after each cluster of it met another fate.
func TestWhatHappensToClustersMeanwhile(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne, plainTwo, plainTwo+"- {key: more, type: number, title: More}\n")
	targets := fleetOf(t, b, v[0], 8)
	move := begin(t, b, fleet.SwitchPlan{VersionID: v[1].ID, Clusters: targets, WaveSize: 20, Parallel: 20})
	id := func(i int) uuid.UUID { return targets[i].ID }
	_, err := b.ArchiveCluster(t.Context(), b.Admin, id(0))
	require.NoError(t, err)
	_, _, err = b.DeleteCluster(t.Context(), b.Admin, id(1))
	require.NoError(t, err)
	_, task, err := b.ChangeCluster(t.Context(), b.Admin, id(2), fleet.ClusterChange{Revision: 1, Name: "c02", TemplateVersionID: v[0].ID, Values: store.Values{"count": 7.0}})
	require.NoError(t, err)
	b.Run(t, *task, store.TaskSucceeded)
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, id(3), fleet.UpgradeChoice{Revision: 1, VersionID: v[1].ID}) // by hand
	require.NoError(t, err)
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, id(4), fleet.UpgradeChoice{Revision: 1, VersionID: v[2].ID, Answers: store.Values{"more": 1.0}}) // elsewhere
	require.NoError(t, err)
	lost, err := b.Converge(t.Context(), b.Admin, id(5))
	require.NoError(t, err)
	_, err = b.Claim(t.Context(), fleet.Delivery{TaskID: lost.ID, Attempt: 1}, "w")
	require.NoError(t, err)
	b.Silence(t, lost.ID, time.Hour)
	b.QuietLimit = time.Minute
	_, err = b.MarkLost(t.Context(), lost.ID)
	require.NoError(t, err)
	busy, err := b.Converge(t.Context(), b.Admin, id(6)) // runs while the move begins
	require.NoError(t, err)
	_, err = b.Claim(t.Context(), fleet.Delivery{TaskID: busy.ID, Attempt: 1}, "w")
	require.NoError(t, err)

	require.False(t, look(t, b, move.ID))
	now := view(t, b, move.ID)
	reasons := map[string]string{}
	for _, line := range now.Clusters {
		if line.Reason != nil {
			reasons[line.Name] = line.Reason.Key
		}
	}
	require.Equal(t, map[string]string{
		"c00": "cluster.archived", "c01": "cluster.being_deleted", "c02": "cluster.stale_revision", "c03": "cluster.stale_revision",
		"c04": "cluster.stale_revision", "c05": "cluster.task_lost",
	}, reasons)
	require.Equal(t, store.SwitchRuns, now.Clusters[6].Status, "its change waits for what runs")
	require.Equal(t, store.SwitchRuns, now.Clusters[7].Status)
	require.Equal(t, 7.0, wantedValues(t, b, id(2))["count"], "what somebody set since stays")

	// The change of the move is lost in its turn, and a person decides about it.
	row, err := b.Store.Task(t.Context(), *now.Clusters[7].TaskID)
	require.NoError(t, err)
	_, err = b.Claim(t.Context(), fleet.Delivery{TaskID: row.Task.ID, Attempt: 1}, "w")
	require.NoError(t, err)
	b.Silence(t, row.Task.ID, time.Hour)
	_, err = b.MarkLost(t.Context(), row.Task.ID)
	require.NoError(t, err)
	require.NoError(t, b.Finish(t.Context(), fleet.Delivery{TaskID: busy.ID, Attempt: 1}, fleet.Ending{Status: store.TaskSucceeded}))
	require.False(t, look(t, b, move.ID))
	now = view(t, b, move.ID)
	require.Equal(t, store.SwitchFailed, now.Clusters[7].Status)
	require.Equal(t, "cluster.switch.task_lost", now.Clusters[7].Reason.Key)
	_, err = b.StopTask(t.Context(), b.Admin, *now.Clusters[6].TaskID)
	require.NoError(t, err)
	require.True(t, look(t, b, move.ID))
	now = view(t, b, move.ID)
	require.Equal(t, "cluster.switch.task_cancelled", now.Clusters[6].Reason.Key)
	require.Equal(t, store.SwitchFinished, now.Status, "it was not to stop")
}

func wantedValues(t *testing.T, b *fleettest.Bench, id uuid.UUID) store.Values {
	t.Helper()
	v, err := b.Cluster(t.Context(), b.Admin, id)
	require.NoError(t, err)
	return v.Wanted.Values
}

// TestAMoveSurvivesItsJobs lets several jobs work on one move at once and breaks them off at any
// moment, as processes that end do.
func TestAMoveSurvivesItsJobs(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne, plainTwo)
	targets := fleetOf(t, b, v[0], 7)
	move := begin(t, b, fleet.SwitchPlan{VersionID: v[1].ID, Clusters: targets, WaveSize: 3, Parallel: 2})
	var jobs sync.WaitGroup
	for job := range 3 {
		random := rand.New(rand.NewPCG(uint64(job), 7))
		jobs.Go(func() {
			for done := false; !done; {
				// Some looks are broken off at once, some nearly get through.
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(100))*time.Millisecond)
				var err error
				if done, err = b.ContinueSwitch(ctx, move.ID); err != nil && ctx.Err() == nil {
					t.Errorf("job %d: %v", job, err)
				}
				cancel()
			}
		})
	}
	looks := time.NewTicker(10 * time.Millisecond)
	defer looks.Stop()
	for now := view(t, b, move.ID); now.FinishedAt == nil; now = view(t, b, move.ID) {
		hold(t, now)
		for _, line := range now.Clusters {
			if line.Status == store.SwitchRuns && line.TaskStatus == store.TaskQueued {
				finish(t, b, line, store.TaskSucceeded)
			}
		}
		<-looks.C
	}
	jobs.Wait()
	end := view(t, b, move.ID)
	require.Equal(t, store.SwitchFinished, end.Status)
	require.Equal(t, map[store.SwitchState]int64{store.SwitchDone: 7}, end.Counts)
	for _, target := range targets {
		require.Equal(t, 2, current(t, b, target.ID).Revision, "each is moved once")
		tasks, err := b.Store.TasksOfCluster(t.Context(), store.TasksOfClusterParams{ClusterID: target.ID, PageSize: 10})
		require.NoError(t, err)
		require.Len(t, tasks, 2, "its installation and one change")
	}
}

func TestADoubleSubmitMakesOneMove(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne, plainTwo)
	targets := fleetOf(t, b, v[0], 2)
	nonce := uuid.New()
	plan := fleet.SwitchPlan{
		VersionID: v[1].ID, Clusters: append(targets, targets...), WaveSize: 1, Parallel: 1, Nonce: &nonce,
	}
	ids := make([]uuid.UUID, 8)
	var sent sync.WaitGroup
	for i := range ids {
		sent.Go(func() {
			move, err := b.SwitchClusters(t.Context(), b.Admin, plan)
			if err != nil {
				t.Error(err)
			}
			ids[i] = move.ID
		})
	}
	sent.Wait()
	require.Len(t, slices.Compact(ids), 1)
	require.Len(t, view(t, b, ids[0]).Clusters, 2, "one that is named twice is moved once")
	var jobs int
	require.NoError(t, b.Store.Pool.QueryRow(t.Context(), "select count(*) from river_job where kind = 'clusters.switch'").Scan(&jobs))
	require.Equal(t, 1, jobs)
}

func TestPlansThatMakeNoSense(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne, plainTwo)
	targets := fleetOf(t, b, v[0], 1)
	other, err := b.EnsureWorkspace(t.Context(), "other", "Other")
	require.NoError(t, err)
	elsewhere, err := b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: other.ID, Name: "foreign", Body: bodyWith(plainOne)})
	require.NoError(t, err)
	foreign, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: other.ID, Name: "foreign", TemplateVersionID: *elsewhere.CurrentVersionID})
	require.NoError(t, err)
	good := fleet.SwitchPlan{VersionID: v[1].ID, Clusters: targets, WaveSize: 1, Parallel: 1}
	with := func(change func(*fleet.SwitchPlan)) fleet.SwitchPlan {
		plan := good
		change(&plan)
		return plan
	}
	before := everything(t, b)
	cases := []struct {
		name  string
		plan  fleet.SwitchPlan
		field string
	}{
		{"no clusters", with(func(p *fleet.SwitchPlan) { p.Clusters = nil }), "clusters"},
		{"too many", with(func(p *fleet.SwitchPlan) { p.Clusters = make([]fleet.SwitchTarget, 10_001) }), "clusters"},
		{"no such cluster", with(func(p *fleet.SwitchPlan) { p.Clusters = []fleet.SwitchTarget{{ID: uuid.New()}} }), "clusters"},
		{"a cluster of another workspace", with(func(p *fleet.SwitchPlan) { p.Clusters = []fleet.SwitchTarget{{ID: foreign.ID}} }), "clusters"},
		{"waves of nothing", with(func(p *fleet.SwitchPlan) { p.WaveSize = 0 }), "wave_size"},
		{"nothing at once", with(func(p *fleet.SwitchPlan) { p.Parallel = 0 }), "parallel"},
		{"too much at once", with(func(p *fleet.SwitchPlan) { p.Parallel = 101 }), "parallel"},
		{"no such version", with(func(p *fleet.SwitchPlan) { p.VersionID = uuid.New() }), fleet.VersionField},
	}
	for _, c := range cases {
		_, err := b.SwitchClusters(t.Context(), b.Admin, c.plan)
		if got := fieldsOf(t, err); got[c.field].Key == "" {
			t.Errorf("%s: got %v, want a problem of %s", c.name, got, c.field)
		}
	}
	for actor, kind := range map[*fleet.Actor]fault.Kind{&b.Viewer: fault.Forbidden, &b.Stranger: fault.NotFound} {
		_, err := b.SwitchClusters(t.Context(), *actor, good)
		require.Equal(t, kind, fault.KindOf(err))
	}
	_, err = b.PreviewSwitch(t.Context(), b.Stranger, v[1].ID, nil)
	require.True(t, fault.Is(err, fault.NotFound))
	require.Equal(t, before, everything(t, b))
	require.NoError(t, b.ChangeTemplateVersion(t.Context(), b.Admin, v[1].TemplateID, 2, fleet.VersionChange{Available: new(false)}))
	_, err = b.SwitchClusters(t.Context(), b.Admin, good)
	require.Equal(t, "template.version.unavailable", fieldsOf(t, err)[fleet.VersionField].Key)
}

func TestAVersionIsTakenAwayDuringAMove(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne, plainTwo)
	move := begin(t, b, fleet.SwitchPlan{VersionID: v[1].ID, Clusters: fleetOf(t, b, v[0], 3), WaveSize: 1, Parallel: 1, StopAtFailure: true})
	look(t, b, move.ID)
	require.NoError(t, b.ChangeTemplateVersion(t.Context(), b.Admin, v[1].TemplateID, 2, fleet.VersionChange{Available: new(false)}))
	finish(t, b, view(t, b, move.ID).Clusters[0], store.TaskSucceeded)
	require.True(t, look(t, b, move.ID))
	end := view(t, b, move.ID)
	require.Equal(t, []store.SwitchState{store.SwitchDone, store.SwitchRefused, store.SwitchRefused}, states(end))
	require.Equal(t, "cluster.switch.problem", end.Clusters[1].Reason.Key)
	require.Equal(t, store.SwitchFinished, end.Status, "a refusal is no failure")
}

// TestThePreviewOfAMoveIsHonest previews clusters of every kind, and holds the move to it.
func TestThePreviewOfAMoveIsHonest(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	hosts := catalog(t, b, "hosts", true)
	record(t, b, hosts, host("10.0.0.1"))
	record(t, b, hosts, host("10.0.0.2"))
	v := family(t, b, "team", plainOne+"- {key: size, type: number, title: Size, optional: true}\n",
		plainTwo+"- {key: size, type: number, title: Size, optional: true, max: 5}\n- {key: host, title: Host, catalog: hosts, autoselect: true}\n")
	var ids []uuid.UUID
	var targets []fleet.SwitchTarget
	add := func(name string, values store.Values) store.Cluster {
		cluster := on(t, b, v[0], name, values)
		ids, targets = append(ids, cluster.ID), append(targets, fleet.SwitchTarget{ID: cluster.ID, Revision: 1})
		return cluster
	}
	add("fits", store.Values{"size": 3.0})
	add("large", store.Values{"size": 9.0})
	add("second", nil)
	add("third", nil) // there are two records
	gone := add("gone", nil)
	_, err := b.ArchiveCluster(t.Context(), b.Admin, gone.ID)
	require.NoError(t, err)
	ids = append(ids, uuid.New(), ids[0])
	before := everything(t, b)
	lines, err := b.PreviewSwitch(t.Context(), b.Admin, v[1].ID, ids)
	require.NoError(t, err)
	require.Equal(t, before, everything(t, b), "a preview changes nothing")
	require.Len(t, lines, 6, "one that is named twice is looked at once")
	refused := map[string]string{}
	for _, line := range lines[:5] {
		if line.Refusal != nil {
			refused[line.Cluster.Name] = deepest(*line.Refusal)
		}
	}
	want := map[string]string{"large": "parameter.too_large", "third": "inventory.none_free", "gone": "cluster.archived"}
	require.Equal(t, want, refused)
	require.Equal(t, "fault.not_found", lines[5].Refusal.Key)

	move := begin(t, b, fleet.SwitchPlan{VersionID: v[1].ID, Clusters: targets, WaveSize: 10, Parallel: 10})
	look(t, b, move.ID)
	told := map[string]string{}
	for _, line := range view(t, b, move.ID).Clusters {
		if line.Reason != nil {
			told[line.Name] = deepest(*line.Reason)
		}
	}
	require.Equal(t, want, told, "the move does what the preview said")
	_, err = b.PreviewSwitch(t.Context(), b.Admin, v[1].ID, make([]uuid.UUID, fleet.MostPreviewed+1))
	require.Equal(t, "cluster.switch.many", fieldsOf(t, err)["clusters"].Key)
}

// deepest is the message that a reason comes down to.
func deepest(m fault.Message) string {
	for _, arg := range m.Args {
		if inner, is := arg.(fault.Message); is {
			return deepest(inner)
		}
	}
	return m.Key
}

func TestCandidatesOfAMove(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	v := family(t, b, "team", plainOne, plainTwo)
	fleetOf(t, b, v[0], 3)
	on(t, b, v[1], "already", nil)
	names := func(target store.ClusterTemplateVersion, search fleet.SwitchSearch) string {
		rows, total, err := b.SwitchCandidates(t.Context(), b.Viewer, target, search)
		require.NoError(t, err)
		require.Equal(t, len(rows), total)
		var out []string
		for _, row := range rows {
			out = append(out, fmt.Sprintf("%s v%d", row.Name, row.VersionNumber))
		}
		return strings.Join(out, " ")
	}
	require.Equal(t, "c00 v1 c01 v1 c02 v1", names(v[1], fleet.SwitchSearch{}))
	require.Equal(t, "already v2", names(v[0], fleet.SwitchSearch{}))
	require.Equal(t, "c01 v1", names(v[1], fleet.SwitchSearch{Text: "C01"}))
	require.Empty(t, names(v[1], fleet.SwitchSearch{From: 2}))
	_, _, err := b.SwitchCandidates(t.Context(), b.Stranger, v[1], fleet.SwitchSearch{})
	require.True(t, fault.Is(err, fault.NotFound))
}
