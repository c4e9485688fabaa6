package console

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// Cluster topics carry in their cursor which parts a page shows, so that each page is sent what
// it has room for. A cursor that is a moment belongs to a list.
const (
	partsOverview int64 = iota // what a page without a cursor shows
	partsHead
	partsKubernetes
	partsTasks
	partsNodes
)

// clusterPage answers with a page of one cluster.
func (c *Console) clusterPage(w http.ResponseWriter, r *http.Request, status int, view fleet.ClusterView, parts int64, p page) error {
	p.section, p.workspace, p.title = layout.SectionClusters, &view.Workspace, i18n.Plain(view.Name)
	if view.ArchivedAt == nil {
		p.live = paths.Live(parts, paths.TopicCluster(view.ID.String()))
	} else {
		p.section = layout.SectionArchive
	}
	return c.show(w, r, status, p)
}

// cluster reads a cluster, with the texts of its parameters in the reader's language.
func (c *Console) cluster(ctx context.Context, who fleet.Actor, id uuid.UUID) (fleet.ClusterView, error) {
	view, err := c.Fleet.Cluster(ctx, who, id)
	view.Wanted.Schema = fleet.SchemaIn(language(ctx), view.Wanted.Schema)
	return view, err
}

// language is the one that a page is drawn in.
func language(ctx context.Context) string { return string(i18n.Of(ctx)) }

// managed reads a cluster for a page that only clusters outside of the archive have; the pages of
// an archived one lead to its only page, and done is true.
func (c *Console) managed(w http.ResponseWriter, r *http.Request) (view fleet.ClusterView, done bool, err error) {
	cluster, err := id(r)
	if err != nil {
		return view, true, err
	}
	if view, err = c.cluster(r.Context(), actor(r), cluster); err != nil {
		return view, true, err
	}
	if view.ArchivedAt != nil {
		return view, true, respond.SeeOther(w, r, paths.Cluster(view.ID.String()))
	}
	return view, false, nil
}

// head is what all pages of one cluster begin with.
func (c *Console) head(view fleet.ClusterView, who fleet.Actor, tab string) clusters.Head {
	can := canDo(view, who)
	return clusters.Head{
		ID: view.ID.String(), Name: view.Name, Slug: view.Workspace.Slug, Tab: tab, Can: can, Locked: view.IsLocked,
		Status:        ui.ClusterStatus(string(view.Status)),
		Configuration: ui.ConfigurationStatus(string(c.Fleet.SyncState(view.Line.ReportedAt, view.Line.SyncState))),
		Agent:         ui.AgentSeen(moment(view.Line.ReportedAt), c.Fleet.Clock.Now()),
		Next:          c.next(view, can),
	}
}

func canDo(view fleet.ClusterView, who fleet.Actor) clusters.Can {
	role := who.Role(view.WorkspaceID)
	living := view.ArchivedAt == nil
	edit := living && fleet.May(role, fleet.ClustersEdit)
	running := view.Line.TaskStatus == store.TaskRunning
	leaving := view.Status == store.ClusterDelete || view.Status == store.ClusterDetaching
	return clusters.Can{
		Edit:     edit && !leaving,
		Converge: edit && view.WasCreated && !leaving,
		Detach:   edit && view.WasCreated && !view.IsLocked && !leaving && fleet.ClusterCanBecome(view.Status, store.ClusterDetaching),
		Destroy:  edit && !view.IsLocked && !view.Attached,
		Connect:  living && view.WasCreated && fleet.May(role, fleet.ClustersConnect),
		Delete:   edit && !view.IsLocked,
		Archive:  edit && !view.IsLocked && !running,
		Mark:     edit,
	}
}

// next finds the one obvious thing to do with a cluster now. A person who may not do it is told
// the reason without a button.
func (c *Console) next(view fleet.ClusterView, can clusters.Can) *clusters.Next {
	line := view.Line
	showTask := func(tone ui.Tone, text i18n.Message) *clusters.Next {
		n := &clusters.Next{Tone: tone, Text: text}
		if line.TaskID != nil {
			n.Label, n.Href = i18n.M("action.show_task"), paths.Task(line.TaskID.String())
		}
		return n
	}
	act := func(tone ui.Tone, text i18n.Message, label, href string, post bool) *clusters.Next {
		n := &clusters.Next{Tone: tone, Text: text}
		if can.Edit {
			n.Label, n.Href, n.Post = i18n.M(label), href, post
		}
		return n
	}
	id := view.ID.String()
	switch line.TaskStatus {
	case store.TaskQueued, store.TaskRunning:
		return showTask(ui.Busy, i18n.M("cluster.next.running", ui.TaskKind(string(line.TaskKind))))
	case store.TaskLost, store.TaskLostInCritical:
		return showTask(ui.Bad, i18n.M("cluster.next.lost"))
	case store.TaskWaitingApproval:
		n := showTask(ui.Warn, i18n.M("cluster.next.destructive_changes"))
		n.Label, n.Href = i18n.M("action.review"), paths.TaskReview(line.TaskID.String())
		return n
	}
	switch view.Status {
	case store.ClusterNew:
		return act(ui.Neutral, i18n.M("cluster.next.new"), "action.install", paths.ClusterInstallation(id), true)
	case store.ClusterReadyToJoin:
		return act(ui.Warn, i18n.M("cluster.next.ready_to_join"), "action.join", paths.ClusterJoining(id), true)
	case store.ClusterConfigurationError:
		return act(ui.Bad, i18n.M("cluster.next.configuration_error"), "action.fix", paths.ClusterConfiguration(id), false)
	case store.ClusterPendingChanges:
		return act(ui.Warn, i18n.M("cluster.next.pending_changes"), "action.apply", paths.ClusterConvergence(id), true)
	case store.ClusterDestructiveChanges:
		return act(ui.Warn, i18n.M("cluster.next.destructive_changes"), "action.review", paths.ClusterConvergence(id), true)
	case store.ClusterCreationFailed, store.ClusterSynchronizationFailure, store.ClusterDeletionFailed:
		return showTask(ui.Bad, i18n.M("cluster.next."+string(view.Status)))
	}
	if view.WasCreated && ui.AgentSeen(moment(line.ReportedAt), c.Fleet.Clock.Now()).Tone != ui.Good {
		return &clusters.Next{Tone: ui.Warn, Text: i18n.M("cluster.next.no_agent")}
	}
	return nil
}
