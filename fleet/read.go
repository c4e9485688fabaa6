package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// Workspaces lists those that the actor may see, with what matters in each.
func (f *Fleet) Workspaces(ctx context.Context, actor Actor) ([]store.WorkspaceSummariesRow, error) {
	rows, err := f.Store.WorkspaceSummaries(ctx, store.WorkspaceSummariesParams{
		Everywhere: actor.Everywhere != "", Ids: actor.Workspaces(), Attention: attention(),
	})
	return rows, store.AsFault(err)
}

func attention() []string {
	words := make([]string, len(Attention))
	for i, status := range Attention {
		words[i] = string(status)
	}
	return words
}

// WorkspaceNames lists those that the actor may see, and nothing of what is in them.
func (f *Fleet) WorkspaceNames(ctx context.Context, actor Actor) ([]store.WorkspaceNamesRow, error) {
	rows, err := f.Store.WorkspaceNames(ctx, store.WorkspaceNamesParams{
		Everywhere: actor.Everywhere != "", Ids: actor.Workspaces(),
	})
	return rows, store.AsFault(err)
}

// Workspace is one that the actor may see, by the slug of its URLs.
func (f *Fleet) Workspace(ctx context.Context, actor Actor, slug string) (store.Workspace, error) {
	workspace, err := f.Store.WorkspaceBySlug(ctx, slug)
	if err != nil {
		return workspace, store.AsFault(err)
	}
	return workspace, Allowed(actor, WorkspacesView, workspace.ID)
}

// WorkspaceByID is the same for those who know the id.
func (f *Fleet) WorkspaceByID(ctx context.Context, actor Actor, id uuid.UUID) (store.Workspace, error) {
	workspace, err := f.Store.Workspace(ctx, id)
	if err != nil {
		return workspace, store.AsFault(err)
	}
	return workspace, Allowed(actor, WorkspacesView, id)
}

// ClusterLine is one line of the list, for live pages.
func (f *Fleet) ClusterLine(ctx context.Context, actor Actor, id uuid.UUID) (store.ClusterLine, error) {
	line, err := f.Store.ClusterLine(ctx, id)
	if err != nil {
		return line, store.AsFault(err)
	}
	return line, Allowed(actor, ClustersView, line.WorkspaceID)
}

// ClusterView is a cluster with all that its pages show.
type ClusterView struct {
	store.Cluster
	Workspace store.Workspace
	Line      store.ClusterLine
	// Report is nil while the agent has never spoken.
	Report *store.AgentReport
	// Wanted is the configuration that the cluster is to have. Its Values hold secrets: show Shown.
	Wanted Configuration
	// Applied is the one applied last, nil when there is none or when it is Wanted itself.
	Applied *Configuration
	Tasks   []store.Task
	// Found is what the last check found, nil when none has or when it was undone since.
	Found *store.ClusterCheck
	// CheckDue is since when the cluster's check is late; zero while it is not.
	CheckDue time.Time
	// CreatedBy and ArchivedBy name people; ArchivedBy is empty outside of the archive.
	CreatedBy, ArchivedBy string
}

// shownTasks is how many of a cluster's newest tasks its pages show.
const shownTasks = 50

// Cluster reads a cluster for its pages.
func (f *Fleet) Cluster(ctx context.Context, actor Actor, id uuid.UUID) (ClusterView, error) {
	cluster, err := f.cluster(ctx, actor, ClustersView, id)
	if err != nil {
		return ClusterView{}, err
	}
	view := ClusterView{Cluster: cluster}
	if view.Workspace, err = f.Store.Workspace(ctx, cluster.WorkspaceID); err != nil {
		return view, store.AsFault(err)
	}
	if view.Line, err = f.Store.ClusterLine(ctx, id); err != nil {
		return view, store.AsFault(err)
	}
	report, err := f.Store.AgentReport(ctx, id)
	switch {
	case err == nil:
		view.Report = &report
	case !notThere(err):
		return view, store.AsFault(err)
	}
	if view.Wanted, err = f.configuration(ctx, f.Store.Querier, id, cluster.Revision); err != nil {
		return view, err
	}
	if view.Wanted.Rendering.Shown.Groups, err = controlled(ctx, f.Store.Querier, cluster, view.Wanted.Rendering.Shown.Groups); err != nil {
		return view, err
	}
	if cluster.AppliedRevision != nil && *cluster.AppliedRevision != cluster.Revision {
		applied, err := f.configuration(ctx, f.Store.Querier, id, *cluster.AppliedRevision)
		if err != nil {
			return view, err
		}
		view.Applied = &applied
	}
	if _, view.CheckDue, err = f.lateChecks(ctx, store.LateChecksParams{WorkspaceID: cluster.WorkspaceID, ClusterID: &id, Grace: lateAfter}); err != nil {
		return view, err
	}
	check, err := f.Store.ClusterCheck(ctx, id)
	switch {
	case err == nil:
		view.Found = &check
	case !notThere(err):
		return view, store.AsFault(err)
	}
	if view.Tasks, err = f.Store.TasksOfCluster(ctx, store.TasksOfClusterParams{ClusterID: id, PageSize: shownTasks}); err != nil {
		return view, store.AsFault(err)
	}
	if view.CreatedBy, err = f.creator(ctx, id); err != nil || cluster.ArchivedAt == nil {
		return view, err
	}
	archived, err := f.archivers(ctx, id)
	view.ArchivedBy = archived[id]
	return view, err
}

// TaskView is a task for its page.
type TaskView struct {
	store.Task
	Cluster   store.Cluster
	Workspace store.Workspace
	// Decisions are what people did with it, the newest first: tried again, stopped, approved, given up.
	Decisions []Decision
}

// Decision is what somebody did with a task.
type Decision struct {
	store.Audit
	Who string
}

// shownDecisions is how many of a task's newest decisions its page shows.
const shownDecisions = 20

// Task reads a task that the actor may see.
func (f *Fleet) Task(ctx context.Context, actor Actor, id uuid.UUID) (TaskView, error) {
	row, err := f.Store.Task(ctx, id)
	if err != nil {
		return TaskView{}, store.AsFault(err)
	}
	if err := Allowed(actor, TasksView, row.Task.WorkspaceID); err != nil {
		return TaskView{}, err
	}
	view := TaskView{Task: row.Task}
	if view.Cluster, err = f.Store.Cluster(ctx, row.Task.ClusterID); err != nil {
		return view, store.AsFault(err)
	}
	if view.Workspace, err = f.Store.Workspace(ctx, row.Task.WorkspaceID); err != nil {
		return view, store.AsFault(err)
	}
	audits, err := f.Store.AuditsOfObject(ctx, store.AuditsOfObjectParams{ObjectID: id, PageSize: shownDecisions})
	for _, row := range audits {
		view.Decisions = append(view.Decisions, Decision{Audit: row.Audit, Who: signed(row.Audit.ActorName, row.Owner)})
	}
	return view, store.AsFault(err)
}

// WorkspaceOf tells which workspace a cluster or task is in, for a route that must check a
// permission before anything is read. Unknown ids are NotFound.
func (f *Fleet) WorkspaceOf(ctx context.Context, clusterID, taskID *uuid.UUID) (uuid.UUID, error) {
	switch {
	case clusterID != nil:
		cluster, err := f.Store.Cluster(ctx, *clusterID)
		return cluster.WorkspaceID, store.AsFault(err)
	case taskID != nil:
		row, err := f.Store.Task(ctx, *taskID)
		return row.Task.WorkspaceID, store.AsFault(err)
	}
	return uuid.Nil, fault.New(fault.NotFound, "fault.not_found")
}
