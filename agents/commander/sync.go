package commander

import (
	"context"
	"errors"
	"fmt"
	"time"

	"commander/agents/agentapi"
)

// syncResources makes the cluster hold the configuration: at once when a new one comes, and every
// Options.ResyncEvery to undo what was changed in the cluster.
func (a *agent) syncResources(ctx context.Context) error {
	s := &syncer{kube: a.kube, inventory: &inventory{kube: a.kube}, marks: map[id]mark{}}
	again := pause{first: a.RetryAfter, most: a.ResyncEvery}
	for ctx.Err() == nil {
		wait := a.ResyncEvery
		if err := a.syncOnce(ctx, s); err != nil && ctx.Err() == nil {
			wait = again.grow()
			a.metrics.failures.WithLabelValues("sync").Inc()
			a.Log.Warn("resources not in sync", "error", err.Error(), "retry_in", wait.Round(time.Millisecond).String())
		} else {
			again.reset()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-a.state.configChanged:
			again.reset()
		}
		timer.Stop()
	}
	return ctx.Err()
}

// syncOnce does one round. Its error is a reason to come back soon.
func (a *agent) syncOnce(ctx context.Context, s *syncer) error {
	config, known := a.state.target()
	if !known {
		return a.recall(ctx)
	}
	isNew := a.state.outcome().etag != config.ETag || s.synced != config.ETag
	if isNew {
		if err := a.kube.storeConfig(ctx, config); err != nil {
			// The configuration is applied anyway; only a restart without Commander would miss it.
			a.Log.Warn("last configuration not stored", "error", err.Error())
		}
	}
	objects, err := s.sync(ctx, config.ResourceGroups, isNew)
	if err != nil {
		if ctx.Err() == nil {
			a.state.setProblem(errorText(err))
		}
		return fmt.Errorf("sync resources: %w", err)
	}
	s.synced = config.ETag
	failed := count(objects, agentapi.ObjectFailed)
	if isNew {
		a.Log.Info("configuration applied", "revision", config.Revision, "etag", config.ETag, "objects", len(objects), "failed", failed)
	}
	a.metrics.synced(objects)
	a.state.setOutcome(outcome{etag: config.ETag, at: time.Now().UTC(), objects: objects})
	if failed > 0 {
		return fmt.Errorf("%d of %d objects failed", failed, len(objects))
	}
	return nil
}

// recall takes up the configuration of an earlier life, for the time until Commander answers.
func (a *agent) recall(ctx context.Context) error {
	config, found, err := a.kube.loadConfig(ctx)
	if err != nil {
		return fmt.Errorf("recall last configuration: %w", err)
	}
	if found {
		a.Log.Info("last configuration recalled", "revision", config.Revision, "etag", config.ETag)
		a.state.remember(config)
	}
	return nil
}

func count(objects []agentapi.ObjectResult, state agentapi.ObjectState) int {
	n := 0
	for _, o := range objects {
		if o.State == state {
			n++
		}
	}
	return n
}

// syncer applies configurations. One goroutine uses it.
type syncer struct {
	kube      *kube
	inventory *inventory
	marks     map[id]mark // what was applied by this process
	synced    string      // ETag of the last configuration gone through
}

// mark is how an object looked when it was applied.
type mark struct {
	print   [32]byte // of the applied form
	version string   // resourceVersion that the API server answered
}

// rounds are the pauses after which objects are tried again whose kind or namespace the same
// configuration brings: the API server takes about a second to serve a new kind.
var rounds = []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond}

// sync makes the cluster hold the groups and tells the result for each object. An error means that
// the API server could not be worked with. With patient set it waits for new kinds.
func (s *syncer) sync(ctx context.Context, groups []agentapi.ResourceGroup, patient bool) ([]agentapi.ObjectResult, error) {
	wanted, results, broken := readGroups(groups)
	if err := s.inventory.load(ctx); err != nil {
		return nil, err
	}
	plan := make([]*task, len(wanted))
	for i, w := range wanted {
		plan[i] = &task{wantedObject: w}
	}
	for round := 0; ; round++ {
		if err := s.resolve(ctx, plan); err != nil {
			return nil, err
		}
		if err := s.inventory.save(ctx); err != nil {
			return nil, err
		}
		if round == 0 {
			s.observe(ctx, plan)
		}
		if err := s.applyAll(ctx, plan); err != nil {
			return nil, err
		}
		if !patient || !anySoon(plan) || round == len(rounds) {
			break
		}
		if !rested(ctx, rounds[round]) {
			return nil, ctx.Err()
		}
		s.kube.forget()
	}
	for _, t := range plan {
		results = append(results, t.result())
		if t.err != nil {
			s.kube.forget() // the next round begins with a fresh look at the kinds
		}
	}
	pruned, err := s.prune(ctx, plan, broken)
	if err != nil {
		return nil, err
	}
	return append(results, pruned...), s.inventory.save(ctx)
}

// task is the work for one object in one sync.
type task struct {
	wantedObject
	place place
	id    id   // zero until the kind is known
	done  bool // nothing left to do
	err   error
}

func (t *task) known() bool { return t.id != id{} }

// soon says whether a new round may go better.
func (t *task) soon() bool {
	return !t.done && t.err != nil && (errors.Is(t.err, errUnknownKind) || mayComeSoon(t.err))
}

func anySoon(plan []*task) bool {
	for _, t := range plan {
		if t.soon() {
			return true
		}
	}
	return false
}

func (t *task) result() agentapi.ObjectResult {
	kind := t.kind()
	r := agentapi.ObjectResult{
		ResourceGroup: t.group, Group: kind.Group, Version: kind.Version, Kind: kind.Kind,
		Namespace: t.object.GetNamespace(), Name: t.object.GetName(), State: agentapi.ObjectPresent,
	}
	if t.known() {
		r.Namespace = t.id.namespace
	}
	switch {
	case t.err != nil:
		r.State, r.Error = agentapi.ObjectFailed, errorText(t.err)
	case t.controlled:
		r.State = agentapi.ObjectApplied
	}
	return r
}
