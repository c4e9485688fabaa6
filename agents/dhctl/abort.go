package dhctl

import (
	"context"

	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// Abort deletes what a Bootstrap left unfinished.
func (s *Server) Abort(stream pb.DHCTL_AbortServer) error {
	w := wire[pb.AbortStart]{
		recv: func() (message[pb.AbortStart], error) {
			m, err := stream.Recv()
			return message[pb.AbortStart]{m.GetStart(), answered(m.GetContinue()), m.GetCancel() != nil}, err
		},
		logs: func(l *pb.Logs) error {
			return stream.Send(&pb.AbortResponse{Message: &pb.AbortResponse_Logs{Logs: l}})
		},
		progress: func(p *pb.Progress) error {
			return stream.Send(&pb.AbortResponse{Message: &pb.AbortResponse_Progress{Progress: p}})
		},
		phaseEnd: func(e phases.End) error {
			return stream.Send(&pb.AbortResponse{Message: &pb.AbortResponse_PhaseEnd{PhaseEnd: &pb.AbortPhaseEnd{
				CompletedPhase: e.Completed, CompletedPhaseState: e.State, NextPhase: e.Next, NextPhaseCritical: e.NextCritical,
			}}})
		},
		result: func(o outcome) error {
			return stream.Send(&pb.AbortResponse{Message: &pb.AbortResponse_Result{Result: &pb.AbortResult{State: o.state, Err: o.err}}})
		},
	}
	return converse(stream.Context(), s, w, func(ctx context.Context, t *talk[pb.AbortStart], m *pb.AbortStart) outcome {
		return s.operate(ctx, t, request{
			operation: phases.OperationAbort, options: m.GetOptions(), state: m.GetState(), lenient: true,
			cluster: m.GetClusterConfig(), provider: m.GetProviderSpecificClusterConfig(), connection: m.GetConnectionConfig(),
		}, func(o *operation) ([]phases.Step, error) {
			return append([]phases.Step{{Phase: phases.DeleteResources, Skip: true}}, o.teardown()...), nil
		})
	})
}
