package gallery

import (
	"fmt"
	"time"

	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/tasks"
	"commander/views/ui"
)

func steps() []ui.Step {
	return []ui.Step{
		{Title: ui.PhaseTitle("BaseInfra"), State: ui.StepDone, Took: 14 * time.Second},
		{Title: ui.PhaseTitle("RegistryPackagesProxyBundle"), State: ui.StepSkipped},
		{Title: ui.PhaseTitle("ExecuteBashibleBundle"), State: ui.StepDone, Took: 112 * time.Second},
		{Title: ui.PhaseTitle("InstallDeckhouse"), State: ui.StepRunning, Started: ago(46 * time.Second), Critical: true, Steps: []ui.Step{
			{Title: ui.PhaseTitle("ConnectToMaster"), State: ui.StepDone, Took: 900 * time.Millisecond},
			{Title: ui.PhaseTitle("InstallDeckhouse"), State: ui.StepRunning, Started: ago(45 * time.Second)},
			{Title: ui.PhaseTitle("WaitForFirstMasterReady"), State: ui.StepWaiting},
		}},
		{Title: ui.PhaseTitle("InstallAdditionalMastersAndStaticNodes"), State: ui.StepWaiting},
		{Title: ui.PhaseTitle("CreateResources"), State: ui.StepWaiting},
		{Title: i18n.Plain("A phase with a title of its own"), State: ui.StepWaiting},
	}
}

func taskLog(n int, failed bool) tasks.Log {
	texts := []string{"Start control plane", "etcd is ready after 412 ms", "kube-apiserver answers on /readyz", "Write kubeconfig of the agent", "Apply namespace d8-commander-agent", "Wait for node payments-prod-2-master-0", "node is Ready after a while, with a line that is long enough to be wrapped on every screen that somebody could reasonably have in front of them while they look at it"}
	l := tasks.Log{ID: taskID, Running: !failed}
	for i := range n {
		l.Lines = append(l.Lines, ui.Line{N: i + 1, At: ago(time.Duration(n-i) * time.Second), Text: texts[i%len(texts)], Error: failed && i == n-2})
	}
	return l
}

func taskPage(status string, change func(*tasks.Page)) tasks.Page {
	p := tasks.Page{
		State: tasks.State{
			ID: taskID, Status: ui.TaskStatus(status), Percent: 46, Running: true, Phase: ui.PhaseTitle("InstallDeckhouse"), Steps: steps(),
			Started: ago(172 * time.Second), Next: i18n.M("task.next.critical", ui.PhaseTitle("InstallAdditionalMastersAndStaticNodes")),
			Actions: tasks.Actions{Stop: true, StopNote: i18n.M("task.note.stop")}, Attempt: 1,
		},
		Kind: ui.TaskKind("bootstrap"), Slug: slug, ClusterID: clusterID, Cluster: "payments-prod-2", Actor: "ada@corp",
		CreatedAt: ago(3 * time.Minute), Log: taskLog(18, false),
	}
	if change != nil {
		change(&p)
	}
	return p
}

func taskPages() []Exhibit {
	show := func(name string, p tasks.Page) Exhibit {
		return shelled(name, layout.SectionTasks, p.Kind, tasks.Body(p))
	}
	ended := func(p *tasks.Page, state ui.StepState) {
		p.Running, p.Finished = false, ago(30*time.Second)
		p.Steps[3].State, p.Steps[3].Took = state, 46*time.Second
		p.Steps[3].Steps = nil
		p.Actions = tasks.Actions{Retry: true, RetryNote: i18n.M("task.note.retry")}
		p.Log = taskLog(12, true)
	}
	review := tasks.Review{
		ID: taskID, Slug: slug, Cluster: "payments-prod-2", Link: paths.Cluster(clusterID),
		Actual: paths.ClusterComparison(clusterID, "actual", "desired"), History: paths.ClusterHistory(clusterID),
		Approval: tasks.Approval{
			ChangeID: "sha256:ab12", CanApprove: true,
			Summary:      []i18n.Message{i18n.M("review.recreated", 1), i18n.M("review.deleted", 2)},
			Consequences: []i18n.Message{i18n.M("task.loss.node_recreated", "payments-prod-2-worker-1", "worker"), i18n.M("task.loss.node_deleted", "payments-prod-2-worker-2", "worker"), i18n.M("task.loss.node_deleted", "payments-prod-2-worker-3", "worker")},
		},
		Diffs: clusters.Diffs([]clusters.SectionDiff{{Title: i18n.M("section.placement"), Lines: ui.Compare("replicas: 4\n", "replicas: 2\n")}}),
	}
	late := review
	late.Message, late.Typed, late.Problem, late.Diffs = i18n.M("task.change_differs"), "payments", i18n.M("deletion.mismatch"), nil
	looked := review
	looked.Approval.CanApprove = false
	reviewed := func(name string, r tasks.Review) Exhibit {
		return shelled(name, layout.SectionTasks, i18n.M("review.tab"), tasks.ReviewBody(r))
	}
	return []Exhibit{
		reviewed("review", review), reviewed("review-late", late), reviewed("review-reader", looked),
		show("task", taskPage("running", nil)),
		show("task-queued", taskPage("queued", func(p *tasks.Page) {
			p.Started, p.Percent, p.Next, p.Log = time.Time{}, 0, i18n.M("task.next.queued"), tasks.Log{ID: taskID, Running: true}
			p.Actions.StopNote = i18n.M("task.note.cancel")
			for i := range p.Steps {
				p.Steps[i] = ui.Step{Title: p.Steps[i].Title, State: ui.StepWaiting}
			}
		})),
		show("task-failed", taskPage("failed", func(p *tasks.Page) {
			ended(p, ui.StepFailed)
			p.Next, p.Attempt = i18n.M("task.next.failed"), 2
			p.Decisions = []tasks.Decision{
				{What: i18n.M("did.task.retry", 2), Actor: "grace@corp", At: ago(2 * time.Minute)},
				{What: i18n.M("did.task.stop"), Actor: "ada@corp", At: ago(3 * time.Minute)},
			}
			p.Failure = &ui.Notice{Tone: ui.Bad, Text: i18n.M("task.failure", ui.PhaseTitle("InstallDeckhouse")), Detail: "wait for kube-apiserver: context deadline exceeded\nlast answer: 503 etcd is not ready"}
		})),
		show("task-lost", taskPage("lost_in_critical", func(p *tasks.Page) {
			ended(p, ui.StepLost)
			p.Next = i18n.M("task.next.lost_in_critical")
			p.Failure = &ui.Notice{Tone: ui.Bad, Text: i18n.M("task.lost"), At: ago(12 * time.Minute)}
		})),
		show("task-approval", taskPage("waiting_approval", func(p *tasks.Page) {
			p.Kind, p.Next, p.Actions = ui.TaskKind("converge"), i18n.M("task.next.waiting_approval"), tasks.Actions{}
			p.Approval = &tasks.Approval{ChangeID: "sha256:ab12", Consequences: []i18n.Message{i18n.M("task.loss.node_deleted", "payments-prod-2-worker-2", "worker"), i18n.M("task.loss.node_recreated", "payments-prod-2-worker-1", "worker")}, CanApprove: true}
		})),
		show("task-approval-reader", taskPage("waiting_approval", func(p *tasks.Page) {
			p.Approval = &tasks.Approval{ChangeID: "sha256:ab12", Consequences: []i18n.Message{i18n.M("task.loss.node_deleted", "payments-prod-2-worker-2", "worker")}}
		})),
		show("task-succeeded", taskPage("succeeded", func(p *tasks.Page) {
			ended(p, ui.StepDone)
			p.Percent, p.Next, p.Actions, p.Archived = 100, i18n.M("task.next.succeeded"), tasks.Actions{}, true
			p.Steps = p.Steps[:4]
			p.Log = taskLog(40, false)
			p.Log.Earlier = 1204
		})),
		show("task-log-part", taskPage("failed", func(p *tasks.Page) {
			ended(p, ui.StepFailed)
			p.Log = taskLog(40, true)
			p.Log.Earlier, p.Log.Later, p.Log.Found, p.Log.Trouble = 1204, true, 12, true
			for i := range p.Log.Lines {
				p.Log.Lines[i].N += 1204
			}
			p.Log.Found += 1204
		})),
		shelled("task-log-search", layout.SectionTasks, i18n.M("log.search_title"), tasks.SearchBody(ui.TaskKind("bootstrap"), "payments-prod-2", tasks.Hits{
			ID: taskID, Text: "e", Lines: taskLog(40, true).Lines, From: 1, Next: 19495,
		})),
		shelled("task-log-nothing", layout.SectionTasks, i18n.M("log.search_title"), tasks.SearchBody(ui.TaskKind("bootstrap"), "payments-prod-2", tasks.Hits{ID: taskID, Text: "quota", From: 1})),
		show("task-quiet", taskPage("cancelled", func(p *tasks.Page) {
			p.Log, p.Steps, p.Next, p.Actions = tasks.Log{ID: taskID}, nil, i18n.M("task.next.cancelled"), tasks.Actions{}
			p.Finished = ago(time.Minute)
		})),
	}
}

// label makes names of repeated pieces differ.
func label(text string, n int) string { return fmt.Sprintf("%s %d", text, n) }
