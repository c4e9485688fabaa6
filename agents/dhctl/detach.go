package dhctl

import (
	"context"
	"errors"

	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// CommanderDetach releases a cluster: the agent and the mark of its owner are removed, and it runs
// on by itself, free to be attached again.
func (s *Server) CommanderDetach(stream pb.DHCTL_CommanderDetachServer) error {
	w := wire[pb.CommanderDetachStart]{
		recv: func() (message[pb.CommanderDetachStart], error) {
			m, err := stream.Recv()
			return message[pb.CommanderDetachStart]{start: m.GetStart(), cancel: m.GetCancel() != nil}, err
		},
		logs: func(l *pb.Logs) error {
			return stream.Send(&pb.CommanderDetachResponse{Message: &pb.CommanderDetachResponse_Logs{Logs: l}})
		},
		progress: func(p *pb.Progress) error {
			return stream.Send(&pb.CommanderDetachResponse{Message: &pb.CommanderDetachResponse_Progress{Progress: p}})
		},
		result: func(o outcome) error {
			return stream.Send(&pb.CommanderDetachResponse{Message: &pb.CommanderDetachResponse_Result{Result: &pb.CommanderDetachResult{State: o.state, Err: o.err}}})
		},
	}
	return converse(stream.Context(), s, w, func(ctx context.Context, t *talk[pb.CommanderDetachStart], m *pb.CommanderDetachStart) outcome {
		return s.operate(ctx, t, request{
			operation: phases.OperationDetach, options: m.GetOptions(), state: m.GetState(), lenient: true,
			cluster: m.GetClusterConfig(), provider: m.GetProviderSpecificClusterConfig(),
		}, func(o *operation) ([]phases.Step, error) {
			if m.GetCreateResourcesTemplate() != "" || m.GetDeleteResourcesTemplate() != "" {
				return nil, errors.New("resources to create or delete while detaching are not supported yet")
			}
			return []phases.Step{
				{Phase: phases.Check, Run: o.ours},
				{Phase: phases.Detach, Run: o.letGo},
			}, nil
		})
	})
}

// ours makes sure that the cluster can be reached and is not another Commander's.
func (o *operation) ours(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.resourcesTimeout)
	defer cancel()
	api, err := o.api(ctx)
	if err != nil {
		return err
	}
	return o.checkOwner(ctx, api)
}

// letGo removes what Commander put into the cluster, the mark last: until it is gone, whoever
// tries again finds the cluster as theirs.
func (o *operation) letGo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.resourcesTimeout)
	defer cancel()
	if err := o.engine.StopAgent(ctx, o.id); err != nil {
		return err
	}
	o.log("The agent has ended")
	api, err := o.api(ctx)
	if err != nil {
		return err
	}
	if err := api.RemoveAgent(ctx); err != nil {
		return err
	}
	o.log("The objects of the agent are removed")
	if err := api.Disown(ctx, o.id); err != nil {
		return err
	}
	o.log("The mark of the owner is removed: the cluster runs on by itself")
	return nil
}
