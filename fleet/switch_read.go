package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// SwitchView is a move with some of its clusters in the order of the plan.
type SwitchView struct {
	store.BulkSwitch
	Workspace store.Workspace
	Template  store.ClusterTemplate
	Version   store.ClusterTemplateVersion
	Who       string // began it
	Counts    map[store.SwitchState]int64
	Clusters  []SwitchLine
	Found     int // clusters that the filter lets through
}

// SwitchLine is one cluster of a move.
type SwitchLine struct {
	store.BulkSwitchCluster
	Name     string
	Archived bool
	// TaskStatus is empty without a task. TaskProgress is from 0 to 1.
	TaskStatus   store.TaskStatus
	TaskProgress float64
	// Reason says why the cluster failed, was refused or skipped; nil otherwise.
	Reason *fault.Message
}

// SwitchFilter chooses clusters of a move.
type SwitchFilter struct {
	// States are those to choose; nil means all.
	States []store.SwitchState
	// Since leaves out what has ended before. What runs is always there.
	Since  *time.Time
	Search string // in names
	// Sort is a column of name, status or wave, with a minus for descending order; anything else is the
	// order of the plan.
	Sort string
	// Limit bounds the lines; 0 means all of them.
	Limit, Start int
}

// BulkSwitch reads a move for its page.
func (f *Fleet) BulkSwitch(ctx context.Context, actor Actor, id uuid.UUID, filter SwitchFilter) (view SwitchView, err error) {
	if view.BulkSwitch, err = f.Store.BulkSwitch(ctx, id); err != nil {
		return view, store.AsFault(err)
	}
	if err := Allowed(actor, ClustersView, view.WorkspaceID); err != nil {
		return SwitchView{}, err
	}
	if view.Workspace, err = f.Store.Workspace(ctx, view.WorkspaceID); err != nil {
		return view, store.AsFault(err)
	}
	if view.Version, err = f.Store.TemplateVersion(ctx, view.TemplateVersionID); err != nil {
		return view, store.AsFault(err)
	}
	if view.Template, err = f.Store.Template(ctx, view.Version.TemplateID); err != nil {
		return view, store.AsFault(err)
	}
	made, err := owner(ctx, f.Store, ActorType(view.ActorType), view.ActorID)
	if err != nil {
		return view, err
	}
	view.Who = signed(view.ActorName, made)
	counts, err := f.Store.BulkSwitchCounts(ctx, id)
	if err != nil {
		return view, store.AsFault(err)
	}
	view.Counts = map[store.SwitchState]int64{}
	for _, row := range counts {
		view.Counts[row.Status] = row.Count
	}
	view.Clusters, view.Found, err = f.switchLines(ctx, id, filter)
	return view, err
}

func (f *Fleet) switchLines(ctx context.Context, id uuid.UUID, filter SwitchFilter) (lines []SwitchLine, total int, err error) {
	wanted := store.BulkSwitchClustersParams{
		SwitchID: id, States: []string{}, Since: filter.Since, Search: filter.Search, Sort: filter.Sort, Start: filter.Start, PageSize: filter.Limit,
	}
	if filter.Limit == 0 {
		wanted.PageSize = mostSwitched
	}
	for _, state := range filter.States {
		wanted.States = append(wanted.States, string(state))
	}
	rows, err := f.Store.BulkSwitchClusters(ctx, wanted)
	if err != nil {
		return nil, 0, store.AsFault(err)
	}
	lines = make([]SwitchLine, 0, len(rows))
	for _, row := range rows {
		total = int(row.Total)
		line := SwitchLine{
			BulkSwitchCluster: row.BulkSwitchCluster, Name: row.Name, Archived: row.ArchivedAt != nil,
			TaskStatus: row.TaskStatus, TaskProgress: row.TaskProgress,
		}
		if body := row.BulkSwitchCluster.Reason; body != nil {
			if line.Reason, err = readReason(body); err != nil {
				return nil, 0, fmt.Errorf("read the reason of cluster %s: %w", row.Name, err)
			}
		}
		lines = append(lines, line)
	}
	return lines, total, nil
}

// WorkspaceOfMove tells which workspace a move is in, for a route that must check a permission before
// anything is read.
func (f *Fleet) WorkspaceOfMove(ctx context.Context, id uuid.UUID) (uuid.UUID, error) {
	move, err := f.Store.BulkSwitch(ctx, id)
	return move.WorkspaceID, store.AsFault(err)
}

// readReason gives a message back whose arguments may be messages themselves.
func readReason(body []byte) (*fault.Message, error) {
	var stored struct {
		Key  string            `json:"key"`
		Args []json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, err
	}
	reason := &fault.Message{Key: stored.Key}
	for _, arg := range stored.Args {
		var inner fault.Message
		if json.Unmarshal(arg, &inner) == nil && inner.Key != "" {
			reason.Args = append(reason.Args, inner)
			continue
		}
		var plain any
		if err := json.Unmarshal(arg, &plain); err != nil {
			return nil, err
		}
		reason.Args = append(reason.Args, plain)
	}
	return reason, nil
}

// switchesShown is how many moves are listed at once unless told otherwise.
const switchesShown = 50

// SwitchesFilter chooses moves of a template.
type SwitchesFilter struct {
	Search      string // in who began them
	OldestFirst bool   // turns the order, in which the newest come first
	// Limit bounds them; 0 means the usual number.
	Limit, Start int
}

// BulkSwitches is a page of the moves to versions of a template, and how many the filter lets through.
func (f *Fleet) BulkSwitches(ctx context.Context, actor Actor, templateID uuid.UUID, filter SwitchesFilter) ([]store.BulkSwitchesOfTemplateRow, int, error) {
	template, err := f.Store.Template(ctx, templateID)
	if err != nil {
		return nil, 0, store.AsFault(err)
	}
	if err := Allowed(actor, ClustersView, template.WorkspaceID); err != nil {
		return nil, 0, err
	}
	if filter.Limit == 0 {
		filter.Limit = switchesShown
	}
	rows, err := f.Store.BulkSwitchesOfTemplate(ctx, store.BulkSwitchesOfTemplateParams{
		TemplateID: templateID, Search: filter.Search, OldestFirst: filter.OldestFirst, PageSize: filter.Limit, PageOffset: filter.Start,
	})
	if len(rows) == 0 {
		return nil, 0, store.AsFault(err)
	}
	return rows, int(rows[0].Total), store.AsFault(err)
}

// SwitchAuthor names who began a move.
func SwitchAuthor(row store.BulkSwitchesOfTemplateRow) string {
	return signed(row.BulkSwitch.ActorName, row.Owner)
}

// SwitchSearch chooses among the clusters that could be moved to a version.
type SwitchSearch struct {
	// Text is a part of the name, From the number of the version that they have; 0 means any.
	Text string
	From int
}

// SwitchCandidates are the clusters of a template that have another version than a wanted one, up to
// MostPreviewed of them, and how many there are in all.
func (f *Fleet) SwitchCandidates(ctx context.Context, actor Actor, version store.ClusterTemplateVersion, search SwitchSearch) (rows []store.SwitchCandidatesRow, total int, err error) {
	template, err := f.Store.Template(ctx, version.TemplateID)
	if err != nil {
		return nil, 0, store.AsFault(err)
	}
	if err := Allowed(actor, ClustersView, template.WorkspaceID); err != nil {
		return nil, 0, err
	}
	rows, err = f.Store.SwitchCandidates(ctx, store.SwitchCandidatesParams{
		TemplateID: template.ID, Target: version.ID, FromVersion: search.From, Search: search.Text, PageSize: MostPreviewed,
	})
	if len(rows) > 0 {
		total = int(rows[0].Total)
	}
	return rows, total, store.AsFault(err)
}
