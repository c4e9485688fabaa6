package dhctl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"commander/agents/dhctl/config"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// Converge changes a cluster to what its documents say. What would be destroyed must have been
// approved by its id.
func (s *Server) Converge(stream pb.DHCTL_ConvergeServer) error {
	w := wire[pb.ConvergeStart]{
		recv: func() (message[pb.ConvergeStart], error) {
			m, err := stream.Recv()
			return message[pb.ConvergeStart]{m.GetStart(), answered(m.GetContinue()), m.GetCancel() != nil}, err
		},
		logs: func(l *pb.Logs) error {
			return stream.Send(&pb.ConvergeResponse{Message: &pb.ConvergeResponse_Logs{Logs: l}})
		},
		progress: func(p *pb.Progress) error {
			return stream.Send(&pb.ConvergeResponse{Message: &pb.ConvergeResponse_Progress{Progress: p}})
		},
		phaseEnd: func(e phases.End) error {
			return stream.Send(&pb.ConvergeResponse{Message: &pb.ConvergeResponse_PhaseEnd{PhaseEnd: &pb.ConvergePhaseEnd{
				CompletedPhase: e.Completed, CompletedPhaseState: e.State, NextPhase: e.Next, NextPhaseCritical: e.NextCritical,
			}}})
		},
		result: func(o outcome) error {
			return stream.Send(&pb.ConvergeResponse{Message: &pb.ConvergeResponse_Result{Result: &pb.ConvergeResult{State: o.state, Result: o.json, Err: o.err}}})
		},
	}
	return converse(stream.Context(), s, w, func(ctx context.Context, t *talk[pb.ConvergeStart], m *pb.ConvergeStart) outcome {
		c := &converge{approved: m.GetApproveDestructionChangeId()}
		out := s.operate(ctx, t, request{
			operation: phases.OperationConverge, options: m.GetOptions(), state: m.GetState(),
			cluster: m.GetClusterConfig(), provider: m.GetProviderSpecificClusterConfig(),
		}, c.steps)
		if out.err == "" && c.result.Status != "" {
			out.json = asJSON(c.result)
		}
		return out
	})
}

type converge struct {
	check
	approved string
	result   ConvergeResult
}

// decided is what the check led to. It is kept in the state, so that an attempt after an
// interruption neither asks for approval again nor destroys more than was approved.
type decided struct {
	Base   string   `json:"base"`
	Remove []string `json:"remove"`
}

const decidedEntry = "decided.json"

func (c *converge) steps(o *operation) ([]phases.Step, error) {
	c.check.operation = o
	all := input(o.cluster, o.provider, c.approved)
	return []phases.Step{
		{Phase: phases.Check, Input: all, Parts: []phases.Part{
			{Name: phases.CheckInfra, Run: c.infra},
			{Name: phases.CheckConfiguration, Run: c.decide},
		}},
		{Phase: phases.BaseInfra, Input: all, Run: o.ensureBase, Critical: c.changesBase},
		{Phase: phases.InstallDeckhouse, Skip: true},
		{Phase: phases.AllNodes, Input: all, Run: c.ensureMachines, Critical: c.removesMachines},
		{Phase: phases.ScaleToMultiMaster, Skip: true},
		{Phase: phases.DeckhouseConfiguration, Input: all, Run: c.configure},
	}, o.want()
}

// decide ends the operation when nothing is to be done or somebody must approve first.
func (c *converge) decide(ctx context.Context) error {
	if err := c.configuration(ctx); err != nil {
		return err
	}
	c.result.CheckResult = &c.check.result
	if c.plan.base == partError {
		return c.plan.why
	}
	switch found := c.check.result; {
	case found.Status == InSync:
		c.result.Status = ConvergeInSync
		return phases.ErrDone
	case found.DestructiveChangeID != "" && found.DestructiveChangeID != c.approved:
		c.result.Status = ConvergeNeedApproval
		return phases.ErrDone
	}
	raw, err := json.Marshal(decided{Base: c.plan.base, Remove: c.plan.removed()})
	if err != nil {
		return fmt.Errorf("encode decision: %w", err)
	}
	return c.cache.Write(decidedEntry, raw)
}

func (c *converge) decided() (decided, error) {
	var d decided
	raw, err := c.cache.Read(decidedEntry)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("read decision: %w", err)
	}
	return d, nil
}

// changesBase: an upgrade that is cut short leaves a control plane between two versions.
func (c *converge) changesBase() bool {
	d, err := c.decided()
	return err != nil || d.Base == partChanged
}

func (c *converge) removesMachines() bool {
	d, err := c.decided()
	return err != nil || len(d.Remove) > 0
}

// ensureMachines looks again, since time may have passed, and stops when more would be
// destroyed than was decided.
func (c *converge) ensureMachines(ctx context.Context) error {
	d, err := c.decided()
	if err != nil {
		return err
	}
	there, err := c.engine.Observe(ctx, c.id)
	if err != nil {
		return err
	}
	remove := difference(c.wanted, there).removed()
	for _, name := range remove {
		if !slices.Contains(d.Remove, name) {
			return fmt.Errorf("the cluster changed since it was checked: node %s would be destroyed without approval", name)
		}
	}
	return c.engine.EnsureMachines(ctx, c.id, c.document, c.provider, remove, c.log)
}

// configure writes the documents into the cluster, once all of it follows them.
func (c *converge) configure(ctx context.Context) error {
	if err := c.adopt(ctx); err != nil {
		return err
	}
	agent, err := config.FindAgent(c.cluster)
	if err == nil {
		err = c.ensureAgent(ctx, agent)
	}
	if err != nil {
		return err
	}
	if err := c.cache.Delete(decidedEntry); err != nil {
		return err
	}
	c.result.Status = ConvergeConverged
	return nil
}
