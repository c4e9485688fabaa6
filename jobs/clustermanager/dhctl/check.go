package dhctl

import (
	"context"

	pb "commander/agents/dhctl/dhctlpb"
)

// Check compares a cluster with its documents; the answer is in Result.CheckJSON. It has no
// phase ends.
func (c *Client) Check(ctx context.Context, r Request, h Handler) (Result, error) {
	return follow(ctx, h, func(ctx context.Context) (words, error) {
		s, err := c.dhctl.Check(ctx)
		if err != nil {
			return words{}, err
		}
		return words{
			closeSend: s.CloseSend,
			start: func() error {
				return s.Send(&pb.CheckRequest{Message: &pb.CheckRequest_Start{Start: &pb.CheckStart{
					ConnectionConfig: r.Connection, ClusterConfig: r.ClusterConfig,
					ProviderSpecificClusterConfig: r.ProviderConfig, State: r.State,
					Options: &pb.CheckStartOptions{CommanderMode: true, CommanderUuid: r.UUID},
				}}})
			},
			cancel: func() error {
				return s.Send(&pb.CheckRequest{Message: &pb.CheckRequest_Cancel{Cancel: &pb.CheckCancel{}}})
			},
			alive: func() error { return s.Send(&pb.CheckRequest{}) },
			recv: func() (said, error) {
				m, err := s.Recv()
				if err != nil {
					return said{}, err
				}
				out := said{logs: m.GetLogs(), progress: m.GetProgress()}
				if r := m.GetResult(); r != nil {
					out.result = &Result{State: r.GetState(), Err: r.GetErr(), CheckJSON: r.GetResult()}
				}
				return out, nil
			},
		}, nil
	})
}
