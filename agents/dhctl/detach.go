package dhctl

import (
	"context"

	pb "commander/agents/dhctl/dhctlpb"
)

// CommanderDetach would release a cluster; it answers that it cannot.
func (s *Server) CommanderDetach(stream pb.DHCTL_CommanderDetachServer) error {
	w := wire[pb.CommanderDetachStart]{
		recv: func() (message[pb.CommanderDetachStart], error) {
			m, err := stream.Recv()
			return message[pb.CommanderDetachStart]{start: m.GetStart(), cancel: m.GetCancel() != nil}, err
		},
		result: func(o outcome) error {
			return stream.Send(&pb.CommanderDetachResponse{Message: &pb.CommanderDetachResponse_Result{Result: &pb.CommanderDetachResult{State: o.state, Err: o.err}}})
		},
	}
	return converse(stream.Context(), s, w, func(_ context.Context, _ *talk[pb.CommanderDetachStart], m *pb.CommanderDetachStart) outcome {
		return outcome{state: m.GetState(), err: "CommanderDetach" + notYet}
	})
}
