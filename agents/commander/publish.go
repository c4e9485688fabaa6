package commander

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	infoName = "commander-info"
	infoKey  = "data.json"
	// publishEvery is after how long an edited or deleted ConfigMap is set right.
	publishEvery = time.Minute
)

// publishInfo keeps ConfigMap commander-info current, from which hooks of the platform learn what
// this Commander can do.
func (a *agent) publishInfo(ctx context.Context) error {
	again := pause{first: a.RetryAfter, most: publishEvery}
	for ctx.Err() == nil {
		wait := publishEvery
		if err := a.publish(ctx); err != nil && ctx.Err() == nil {
			wait = again.grow()
			a.Log.Warn("commander-info not published", "error", err.Error())
		} else {
			again.reset()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-a.state.infoChanged:
		}
		timer.Stop()
	}
	return ctx.Err()
}

func (a *agent) publish(ctx context.Context) error {
	config, known := a.state.target()
	if !known {
		return nil
	}
	flags := config.Flags
	if flags == nil {
		flags = map[string]string{}
	}
	raw, err := json.Marshal(map[string]any{"flags": flags})
	if err != nil {
		return fmt.Errorf("write flags: %w", err)
	}
	err = a.kube.applyOwn(ctx, configMaps, "ConfigMap", infoName, map[string]any{"data": map[string]any{infoKey: string(raw)}})
	if err != nil {
		return fmt.Errorf("publish %s: %w", infoName, err)
	}
	return nil
}
