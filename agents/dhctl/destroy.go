package dhctl

import (
	"context"
	"time"

	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// releaseTimeout bounds the clean-up inside a cluster: a destroy must end even when nothing in
// the cluster works any more.
const releaseTimeout = 30 * time.Second

// Destroy deletes a cluster. What is already gone is no error.
func (s *Server) Destroy(stream pb.DHCTL_DestroyServer) error {
	w := wire[pb.DestroyStart]{
		recv: func() (message[pb.DestroyStart], error) {
			m, err := stream.Recv()
			return message[pb.DestroyStart]{m.GetStart(), answered(m.GetContinue()), m.GetCancel() != nil}, err
		},
		logs: func(l *pb.Logs) error {
			return stream.Send(&pb.DestroyResponse{Message: &pb.DestroyResponse_Logs{Logs: l}})
		},
		progress: func(p *pb.Progress) error {
			return stream.Send(&pb.DestroyResponse{Message: &pb.DestroyResponse_Progress{Progress: p}})
		},
		phaseEnd: func(e phases.End) error {
			return stream.Send(&pb.DestroyResponse{Message: &pb.DestroyResponse_PhaseEnd{PhaseEnd: &pb.DestroyPhaseEnd{
				CompletedPhase: e.Completed, CompletedPhaseState: e.State, NextPhase: e.Next, NextPhaseCritical: e.NextCritical,
			}}})
		},
		result: func(o outcome) error {
			return stream.Send(&pb.DestroyResponse{Message: &pb.DestroyResponse_Result{Result: &pb.DestroyResult{State: o.state, Err: o.err}}})
		},
	}
	return converse(stream.Context(), s, w, func(ctx context.Context, t *talk[pb.DestroyStart], m *pb.DestroyStart) outcome {
		return s.operate(ctx, t, request{
			operation: phases.OperationDestroy, options: m.GetOptions(), state: m.GetState(), lenient: true,
			cluster: m.GetClusterConfig(), provider: m.GetProviderSpecificClusterConfig(), connection: m.GetConnectionConfig(),
		}, func(o *operation) ([]phases.Step, error) {
			return append([]phases.Step{{Phase: phases.DeleteResources, Input: o.operation, Run: o.deleteResources}}, o.teardown()...), nil
		})
	})
}

// teardown is the end of every cluster, whole or half made.
func (o *operation) teardown() []phases.Step {
	always := func() bool { return true }
	return []phases.Step{
		{Phase: phases.AllNodes, Input: o.operation, Run: o.deleteMachines, Critical: always},
		{Phase: phases.BaseInfra, Input: o.operation, Run: o.deleteBase, Critical: always},
	}
}

// deleteResources frees what the cluster holds outside of itself. It does what can be done and
// never stands in the way of what follows.
func (o *operation) deleteResources(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, min(releaseTimeout, o.resourcesTimeout))
	defer cancel()
	there, err := o.engine.Observe(bounded, o.id)
	if err == nil && !there.Exists {
		o.log("The cluster is already gone")
		return nil
	}
	if err == nil {
		err = o.release(bounded)
	}
	if err != nil && ctx.Err() == nil {
		o.log("Resources inside the cluster are left to vanish with it: " + err.Error())
	}
	return ctx.Err()
}

func (o *operation) release(ctx context.Context) error {
	api, err := o.api(ctx)
	if err != nil {
		return err
	}
	return api.Release(ctx, o.log)
}

// deleteMachines removes the machines in order. Those that cannot be removed in time are left to the
// next phase, which deletes all that is left in any case.
func (o *operation) deleteMachines(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, o.deckhouseTimeout)
	defer cancel()
	if err := o.engine.DeleteMachines(bounded, o.id, o.log); err != nil && ctx.Err() == nil {
		o.log("Machines are left to go with the base infrastructure: " + err.Error())
	}
	return ctx.Err()
}

// deleteBase deletes all that is left. What cannot be deleted in time fails the operation: whoever
// gives up then knows that something stays.
func (o *operation) deleteBase(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, o.deckhouseTimeout)
	defer cancel()
	return o.engine.DeleteBase(bounded, o.id, o.log)
}
