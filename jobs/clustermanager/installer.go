package clustermanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	pb "commander/agents/dhctl/dhctlpb"
	"commander/fleet"
	"commander/jobs/clustermanager/dhctl"
	"commander/store"
)

// Dhctl is the Installer that talks to dhctl servers, one a version of the platform.
type Dhctl struct {
	Servers *dhctl.Servers
	Binary  string
	// Version of the platform whose dhctl is used.
	Version string
	// BeatEvery is the pause between two signs of life.
	BeatEvery time.Duration
}

// Run carries out an operation on a server that it starts when none is there.
func (i *Dhctl) Run(ctx context.Context, op Operation, hooks Hooks) (Result, error) {
	client, err := i.Servers.EnsureServer(ctx, i.Binary, i.Version)
	if err != nil {
		// Nothing was begun, so the task may fail with the reason.
		return Result{State: op.State, Err: err.Error()}, nil
	}
	defer func() { _ = client.Close() }()
	run, known := map[store.TaskKind]func(context.Context, dhctl.Request, dhctl.Handler) (dhctl.Result, error){
		store.TaskBootstrap: client.Bootstrap,
		store.TaskConverge:  client.Converge,
		store.TaskCheck:     client.Check,
		store.TaskDestroy:   client.Destroy,
		store.TaskAbort:     client.Abort,
		store.TaskAttach:    client.Attach,
		store.TaskDetach:    client.Detach,
	}[op.Kind]
	if !known {
		return Result{State: op.State, Err: fmt.Sprintf("the installer does not know the operation %q", op.Kind)}, nil
	}
	request := dhctl.Request{
		UUID: op.ClusterID, InitConfig: op.InitConfig, ClusterConfig: op.ClusterConfig, ProviderConfig: op.ProviderConfig,
		Resources: op.Resources, State: string(op.State), Approved: op.ApprovedChange, Connection: op.Connection,
	}
	result, err := run(ctx, request, i.handler(hooks))
	out := Result{State: stateOf(result.State, op.State), Stopped: result.Stopped}
	var failed *dhctl.Failed
	switch {
	case errors.Is(err, dhctl.ErrSilent):
		out.Unheard = true
		return out, nil
	case errors.As(err, &failed):
		out.Err = failed.Text
	case err != nil:
		return out, err
	}
	return out, out.read(op.Kind, result.CheckJSON)
}

func stateOf(said string, known []byte) []byte {
	if said == "" {
		return known
	}
	return []byte(said)
}

func (i *Dhctl) handler(hooks Hooks) dhctl.Handler {
	return dhctl.Handler{
		OnLogs:     hooks.Logs,
		OnProgress: func(p *pb.Progress) { hooks.Progress(progressOf(p)) },
		OnPhaseEnd: func(_ context.Context, end dhctl.PhaseEnd) (dhctl.Continue, error) {
			goOn, err := hooks.PhaseEnd(fleet.PhaseEnd{
				Completed: end.Completed, Next: end.Next, Critical: end.NextCritical, State: []byte(end.State),
			})
			if goOn {
				return dhctl.Next, err
			}
			return dhctl.Stop, err
		},
		OnAlive:    func(context.Context) error { return hooks.Alive() },
		AliveEvery: i.BeatEvery,
	}
}

func progressOf(p *pb.Progress) fleet.Progress {
	out := fleet.Progress{
		Fraction: p.GetProgress(),
		Current:  p.GetCurrentPhase(), CurrentSub: p.GetCurrentSubPhase(),
		Completed: p.GetCompletedPhase(), Completes: p.GetCompletedSubPhase(),
	}
	for _, phase := range p.GetPhases() {
		out.Plan = append(out.Plan, fleet.PlannedPhase{
			Name: phase.GetPhase(), SubPhases: phase.GetSubPhases(), Skip: phase.GetAction() == "skip",
		})
	}
	return out
}

// The words of a check's and a converge's result (agents/dhctl).
const (
	inSync       = "InSync"
	needApproval = "NeedApproveForDestructiveChange"
)

// read takes what matters to a task from the JSON of a check or converge.
func (r *Result) read(kind store.TaskKind, found string) (err error) {
	if found == "" {
		return nil
	}
	var said struct {
		Status              string `json:"status"`
		DestructiveChangeID string `json:"destructive_change_id"`
		CheckResult         struct {
			DestructiveChangeID string `json:"destructive_change_id"`
		} `json:"check_result"`
	}
	if err := json.Unmarshal([]byte(found), &said); err != nil {
		return fmt.Errorf("read the result of a %s: %w", kind, err)
	}
	if r.Found, r.Actual, err = apart(json.RawMessage(found)); err != nil {
		return fmt.Errorf("read the result of a %s: %w", kind, err)
	}
	switch kind {
	case store.TaskCheck:
		r.OutOfSync = said.Status != inSync
	case store.TaskConverge:
		if said.Status == needApproval {
			r.ChangeID = said.CheckResult.DestructiveChangeID
		}
	}
	return nil
}

// apart takes the documents of the cluster out of what was found: they may hold secrets, which the
// rest is stored without.
func apart(found json.RawMessage) (json.RawMessage, *store.Actual, error) {
	const actual, nested = "actual", "check_result"
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(found, &parts); err != nil {
		return nil, nil, err
	}
	var documents *store.Actual
	if raw, there := parts[actual]; there {
		if err := json.Unmarshal(raw, &documents); err != nil {
			return nil, nil, err
		}
		delete(parts, actual)
	}
	if raw, there := parts[nested]; there {
		inner, deeper, err := apart(raw)
		if err != nil {
			return nil, nil, err
		}
		parts[nested] = inner
		if documents == nil {
			documents = deeper
		}
	}
	rest, err := json.Marshal(parts)
	return rest, documents, err
}
