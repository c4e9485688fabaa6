package api

import (
	"context"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
)

// switchSummary is what the list tells of a move of many clusters.
type switchSummary struct {
	ID                       uuid.UUID          `json:"id"`
	ClusterTemplateVersionID uuid.UUID          `json:"cluster_template_version_id"`
	Version                  int                `json:"version"`
	Status                   store.SwitchStatus `json:"status"`
	WaveSize                 int                `json:"wave_size"`
	Parallel                 int                `json:"parallel"`
	StopAtFailure            bool               `json:"stop_at_failure"`
	CreatedBy                string             `json:"created_by"`
	CreatedAt                moment             `json:"created_at"`
	UpdatedAt                moment             `json:"updated_at"`
	FinishedAt               *moment            `json:"finished_at"`
}

// clusterSwitch is a move with its clusters, in the order of the plan.
type clusterSwitch struct {
	switchSummary
	ClusterTemplateID uuid.UUID                   `json:"cluster_template_id"`
	Counts            map[store.SwitchState]int64 `json:"counts"`
	Clusters          []switchedCluster           `json:"clusters"`
}

// switchedCluster is what became of one cluster.
type switchedCluster struct {
	ID           uuid.UUID         `json:"id"`
	Name         string            `json:"name"`
	Wave         int               `json:"wave"`
	Status       store.SwitchState `json:"status"`
	Reason       *string           `json:"reason"`
	TaskID       *uuid.UUID        `json:"task_id"`
	TaskProgress float64           `json:"task_progress"`
	StartedAt    *moment           `json:"started_at"`
	FinishedAt   *moment           `json:"finished_at"`
}

func summaryOfSwitch(m store.BulkSwitch, number int, who string) switchSummary {
	return switchSummary{
		ID: m.ID, ClusterTemplateVersionID: m.TemplateVersionID, Version: number, Status: m.Status, WaveSize: m.WaveSize,
		Parallel: m.Parallel, StopAtFailure: m.StopAtFailure, CreatedBy: who,
		CreatedAt: moment(m.CreatedAt), UpdatedAt: moment(m.ChangedAt), FinishedAt: optional(m.FinishedAt),
	}
}

func switchOf(ctx context.Context, view fleet.SwitchView) clusterSwitch {
	out := clusterSwitch{
		switchSummary: summaryOfSwitch(view.BulkSwitch, view.Version.Number, view.Who), ClusterTemplateID: view.Template.ID,
		Counts: map[store.SwitchState]int64{}, Clusters: []switchedCluster{},
	}
	for _, state := range []store.SwitchState{store.SwitchWaits, store.SwitchRuns, store.SwitchDone, store.SwitchFailed, store.SwitchRefused, store.SwitchSkipped} {
		out.Counts[state] = view.Counts[state]
	}
	for _, line := range view.Clusters {
		out.Clusters = append(out.Clusters, switchedCluster{
			ID: line.ClusterID, Name: line.Name, Wave: line.Wave, Status: line.Status, Reason: reasonOf(ctx, line.Reason), TaskID: line.TaskID,
			TaskProgress: line.TaskProgress, StartedAt: optional(line.StartedAt), FinishedAt: optional(line.FinishedAt),
		})
	}
	return out
}
