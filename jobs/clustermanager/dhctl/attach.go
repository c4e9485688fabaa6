package dhctl

import (
	"context"

	pb "commander/agents/dhctl/dhctlpb"
)

// Attach takes over the cluster that Request.Connection reaches. What was found in it is in
// Result.CheckJSON.
func (c *Client) Attach(ctx context.Context, r Request, h Handler) (Result, error) {
	return follow(ctx, h, func(ctx context.Context) (words, error) {
		s, err := c.dhctl.CommanderAttach(ctx)
		if err != nil {
			return words{}, err
		}
		look := false
		return words{
			closeSend: s.CloseSend,
			start: func() error {
				return s.Send(&pb.CommanderAttachRequest{Message: &pb.CommanderAttachRequest_Start{Start: &pb.CommanderAttachStart{
					ConnectionConfig: r.Connection, ScanOnly: &look, ResourcesTemplate: r.Resources,
					Options: &pb.CommanderAttachStartOptions{CommanderMode: true, CommanderUuid: r.UUID},
				}}})
			},
			cancel: func() error {
				return s.Send(&pb.CommanderAttachRequest{Message: &pb.CommanderAttachRequest_Cancel{Cancel: &pb.CommanderAttachCancel{}}})
			},
			alive: func() error { return s.Send(&pb.CommanderAttachRequest{}) },
			answer: func(kind pb.Continue, text string) error {
				return s.Send(&pb.CommanderAttachRequest{Message: &pb.CommanderAttachRequest_Continue{Continue: &pb.CommanderAttachContinue{Continue: kind, Err: text}}})
			},
			recv: receive(s.Recv),
		}, nil
	})
}

// Detach releases a cluster, which runs on. It has no phase ends.
func (c *Client) Detach(ctx context.Context, r Request, h Handler) (Result, error) {
	return follow(ctx, h, func(ctx context.Context) (words, error) {
		s, err := c.dhctl.CommanderDetach(ctx)
		if err != nil {
			return words{}, err
		}
		return words{
			closeSend: s.CloseSend,
			start: func() error {
				return s.Send(&pb.CommanderDetachRequest{Message: &pb.CommanderDetachRequest_Start{Start: &pb.CommanderDetachStart{
					ConnectionConfig: r.Connection, ClusterConfig: r.ClusterConfig,
					ProviderSpecificClusterConfig: r.ProviderConfig, State: r.State,
					Options: &pb.CommanderDetachStartOptions{CommanderMode: true, CommanderUuid: r.UUID},
				}}})
			},
			cancel: func() error {
				return s.Send(&pb.CommanderDetachRequest{Message: &pb.CommanderDetachRequest_Cancel{Cancel: &pb.CommanderDetachCancel{}}})
			},
			alive: func() error { return s.Send(&pb.CommanderDetachRequest{}) },
			recv: func() (said, error) {
				m, err := s.Recv()
				if err != nil {
					return said{}, err
				}
				out := said{logs: m.GetLogs(), progress: m.GetProgress()}
				if r := m.GetResult(); r != nil {
					out.result = &Result{State: r.GetState(), Err: r.GetErr()}
				}
				return out, nil
			},
		}, nil
	})
}
