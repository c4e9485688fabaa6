package commander

import (
	"context"
	"time"

	"commander/agents/agentapi"
)

// reportPace is the least time between two reports, however much happens.
const reportPace = 300 * time.Millisecond

// reportState tells Commander what the cluster holds, regularly and after each sync.
func (a *agent) reportState(ctx context.Context) error {
	again := pause{first: a.RetryAfter, most: mostPause}
	for ctx.Err() == nil {
		err := a.Commander.Report(ctx, a.describe(ctx))
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			if !rested(ctx, a.trouble("report", err, &again)) {
				break
			}
			continue
		}
		again.reset()
		a.metrics.reported.SetToCurrentTime()
		if !rested(ctx, reportPace) {
			break
		}
		timer := time.NewTimer(a.reportInterval())
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-a.state.outcomeCame:
		}
		timer.Stop()
	}
	return ctx.Err()
}

func (a *agent) reportInterval() time.Duration {
	if a.ReportEvery > 0 {
		return a.ReportEvery
	}
	config, _ := a.state.target()
	return config.ReportInterval()
}

// describe makes a report. What the API server does not tell becomes a warning.
func (a *agent) describe(ctx context.Context) agentapi.Report {
	last := a.state.outcome()
	r := agentapi.Report{
		AgentVersion: a.Version, AppliedETag: last.etag, AppliedAt: last.at, Objects: last.objects,
	}
	if last.problem != "" {
		r.Warnings = append(r.Warnings, last.problem)
	}
	version, err := a.kube.version(ctx)
	if err != nil {
		r.Warnings = append(r.Warnings, errorText(err))
		return r
	}
	r.KubernetesVersion = version
	nodes, totals, err := a.inspector.inspect(ctx)
	if err != nil {
		r.Warnings = append(r.Warnings, errorText(err))
		return r
	}
	r.Nodes, r.Totals = nodes, &totals
	return r
}
