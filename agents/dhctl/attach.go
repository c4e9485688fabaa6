package dhctl

import (
	"context"

	pb "commander/agents/dhctl/dhctlpb"
)

// notYet is the error of operations that are spoken but not done yet.
const notYet = " is not supported yet for any kind of cluster"

// CommanderAttach would take over a cluster that was made elsewhere; it answers that it cannot.
func (s *Server) CommanderAttach(stream pb.DHCTL_CommanderAttachServer) error {
	w := wire[pb.CommanderAttachStart]{
		recv: func() (message[pb.CommanderAttachStart], error) {
			m, err := stream.Recv()
			return message[pb.CommanderAttachStart]{m.GetStart(), answered(m.GetContinue()), m.GetCancel() != nil}, err
		},
		result: func(o outcome) error {
			return stream.Send(&pb.CommanderAttachResponse{Message: &pb.CommanderAttachResponse_Result{Result: &pb.CommanderAttachResult{Err: o.err}}})
		},
	}
	return converse(stream.Context(), s, w, func(context.Context, *talk[pb.CommanderAttachStart], *pb.CommanderAttachStart) outcome {
		return outcome{err: "CommanderAttach" + notYet}
	})
}
