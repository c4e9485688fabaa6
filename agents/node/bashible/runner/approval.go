package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"commander/agents/node/api"
)

// Errors that end a run without anything being wrong: it goes on with the next one, which starts
// from the newest configuration.
var (
	ErrWaiting  = errors.New("still waiting for approval")
	ErrReplaced = errors.New("the node waits to be replaced")
)

// errGaveUp ends a run whose tries are used up.
var errGaveUp = errors.New("gave up after --max-retries")

// question is what a node may not do without being allowed to.
type question struct {
	what     string
	asking   string // the annotation by which the node asks
	approved string // the one by which it is answered
	also     change // is written with the question
	tells    string // the condition that tells people
	yes, no  string // reasons of the condition: needed, not needed
}

var (
	update = question{
		what: "the update", asking: api.UpdateWaiting, approved: api.UpdateApproved,
		also:  change{api.AnnotationChecksum: nil}, // the node is no longer what its checksum says
		tells: api.ConditionWaitingApproval,
		yes:   api.ReasonUpdateApprovalRequired, no: api.ReasonUpdateApprovalNotRequired,
	}
	disruption = question{
		what: "the disruption", asking: api.UpdateDisruptionRequired, approved: api.UpdateDisruptionApproved,
		tells: api.ConditionWaitingDisruptionApproval,
		yes:   api.ReasonDisruptionApprovalRequired, no: api.ReasonDisruptionApprovalNotRequired,
	}
)

// Approval waits until this node may run steps. A first run asks nobody. It fails with ErrWaiting
// after --max-retries looks.
func (r *Run) Approval(ctx context.Context) error {
	if r.has(firstRunFile) {
		return nil
	}
	return r.wait(ctx, update)
}

// Disruption waits until the node may be disturbed; once approved that holds until the run ends.
// It fails with ErrReplaced if the node shall be replaced instead, and like Approval.
func (r *Run) Disruption(ctx context.Context) error {
	if r.has(firstRunFile) || r.flagged(flagDisruption) {
		return nil
	}
	if r.flagged(flagRollingUpdate) {
		if err := r.annotate(ctx, "", change{api.UpdateRolling: ""}); err != nil {
			return err
		}
		return ErrReplaced
	}
	if err := r.wait(ctx, disruption); err != nil {
		return err
	}
	return r.setFlag(flagDisruption)
}

// wait asks until it is allowed.
func (r *Run) wait(ctx context.Context, q question) error {
	for tries := 1; ; tries++ {
		allowed, err := r.ask(ctx, q)
		switch {
		case allowed:
			r.tell(ctx, q.tells, false, q.no, "")
			return nil
		case err != nil:
			r.log.Warn("cannot ask for approval", "of", q.what, "error", err)
		case tries == 1:
			r.tell(ctx, q.tells, true, q.yes, "")
			r.log.Info("waiting for approval", "of", q.what, "to force it", "kubectl annotate node "+r.node+" "+q.approved+"=")
		}
		if r.MaxRetries > 0 && tries >= r.MaxRetries {
			return fmt.Errorf("%w of %s", errors.Join(ErrWaiting, err), q.what)
		}
		if err := r.pause(ctx); err != nil {
			return err
		}
	}
}

// ask writes the question unless it is there, never over a change that somebody made meanwhile.
func (r *Run) ask(ctx context.Context, q question) (bool, error) {
	for {
		node, err := r.getNode(ctx)
		if err != nil {
			return false, err
		}
		if node.annotated(q.approved) || node.annotated(q.asking) {
			return node.annotated(q.approved), nil
		}
		annotations := change{q.asking: ""}
		maps.Copy(annotations, q.also)
		err = r.annotate(ctx, node.Metadata.ResourceVersion, annotations)
		if !isStatus(err, http.StatusConflict) {
			return false, err
		}
	}
}

func (r *Run) pause(ctx context.Context) error {
	timer := time.NewTimer(r.Pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
