package commander

import (
	"context"
	"time"

	"commander/agents/agentapi"
)

const (
	// pollWait is the patience of a long poll; common proxies cut silent requests after 60 s.
	pollWait = 30 * time.Second
	// pollPace is the least time from poll to poll, should Commander not wait.
	pollPace = time.Second
	// mostPause is the longest pause between two tries to reach Commander.
	mostPause = 30 * time.Second
	// refusedPause is the pause after Commander did not accept the token: somebody has to act.
	refusedPause = time.Minute
)

// pullConfig keeps the wanted configuration current.
func (a *agent) pullConfig(ctx context.Context) error {
	again := pause{first: a.RetryAfter, most: mostPause}
	for ctx.Err() == nil {
		begun := time.Now()
		err := a.pull(ctx)
		if ctx.Err() != nil {
			break
		}
		wait := pollPace - time.Since(begun)
		if err != nil {
			wait = a.trouble("configuration", err, &again)
		} else {
			again.reset()
		}
		if wait > 0 && !rested(ctx, wait) {
			break
		}
	}
	return ctx.Err()
}

func (a *agent) pull(ctx context.Context) error {
	have, _ := a.state.target()
	config, changed, err := a.Commander.Config(ctx, have.ETag, pollWait)
	if err != nil || !changed {
		return err
	}
	a.Log.Info("configuration received", "revision", config.Revision, "etag", config.ETag, "groups", len(config.ResourceGroups))
	a.state.setConfig(config)
	return nil
}

// trouble logs why Commander could not be asked and gives the pause until the next try.
func (a *agent) trouble(what string, err error, again *pause) time.Duration {
	a.metrics.failures.WithLabelValues(what).Inc()
	if agentapi.Refused(err) {
		a.Log.Error("Commander refuses the agent's token; the last configuration stays in force", "request", what, "error", err.Error())
		return jitter(refusedPause)
	}
	wait := again.grow()
	a.Log.Warn("Commander not reached", "request", what, "error", err.Error(), "retry_in", wait.Round(time.Millisecond).String())
	return wait
}
