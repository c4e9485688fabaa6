package dhctl

import (
	"context"

	pb "commander/agents/dhctl/dhctlpb"
)

// Request is what operations are asked with; each takes from it what it needs. Documents are
// YAML, and may be several in one text.
type Request struct {
	// UUID is Commander's id of the cluster.
	UUID string
	// Connection is how to reach the first machine; empty for kinds that need none.
	Connection                    string
	InitConfig                    string
	ClusterConfig, ProviderConfig string
	// InitResources and Resources are applied inside the cluster, in this order.
	InitResources, Resources string
	// State is what the last phase end or result gave; empty the first time.
	State string
	// Approved is the destructive_change_id that a person approved.
	Approved string
}

// Bootstrap makes a cluster.
func (c *Client) Bootstrap(ctx context.Context, r Request, h Handler) (Result, error) {
	return follow(ctx, h, func(ctx context.Context) (words, error) {
		s, err := c.dhctl.Bootstrap(ctx)
		if err != nil {
			return words{}, err
		}
		return words{
			closeSend: s.CloseSend,
			start: func() error {
				return s.Send(&pb.BootstrapRequest{Message: &pb.BootstrapRequest_Start{Start: &pb.BootstrapStart{
					ConnectionConfig: r.Connection, InitConfig: r.InitConfig, ClusterConfig: r.ClusterConfig,
					ProviderSpecificClusterConfig: r.ProviderConfig, InitResources: r.InitResources, Resources: r.Resources, State: r.State,
					Options: &pb.BootstrapStartOptions{CommanderMode: true, CommanderUuid: r.UUID},
				}}})
			},
			cancel: func() error {
				return s.Send(&pb.BootstrapRequest{Message: &pb.BootstrapRequest_Cancel{Cancel: &pb.BootstrapCancel{}}})
			},
			alive: func() error { return s.Send(&pb.BootstrapRequest{}) },
			answer: func(kind pb.Continue, text string) error {
				return s.Send(&pb.BootstrapRequest{Message: &pb.BootstrapRequest_Continue{Continue: &pb.BootstrapContinue{Continue: kind, Err: text}}})
			},
			recv: receive(s.Recv),
		}, nil
	})
}

// Converge changes a cluster to what its documents say.
func (c *Client) Converge(ctx context.Context, r Request, h Handler) (Result, error) {
	return follow(ctx, h, func(ctx context.Context) (words, error) {
		s, err := c.dhctl.Converge(ctx)
		if err != nil {
			return words{}, err
		}
		return words{
			closeSend: s.CloseSend,
			start: func() error {
				return s.Send(&pb.ConvergeRequest{Message: &pb.ConvergeRequest_Start{Start: &pb.ConvergeStart{
					ConnectionConfig: r.Connection, ClusterConfig: r.ClusterConfig,
					ProviderSpecificClusterConfig: r.ProviderConfig, State: r.State, ApproveDestructionChangeId: r.Approved,
					Options: &pb.ConvergeStartOptions{CommanderMode: true, CommanderUuid: r.UUID},
				}}})
			},
			cancel: func() error {
				return s.Send(&pb.ConvergeRequest{Message: &pb.ConvergeRequest_Cancel{Cancel: &pb.ConvergeCancel{}}})
			},
			alive: func() error { return s.Send(&pb.ConvergeRequest{}) },
			answer: func(kind pb.Continue, text string) error {
				return s.Send(&pb.ConvergeRequest{Message: &pb.ConvergeRequest_Continue{Continue: &pb.ConvergeContinue{Continue: kind, Err: text}}})
			},
			recv: receive(s.Recv),
		}, nil
	})
}

// Destroy deletes a cluster.
func (c *Client) Destroy(ctx context.Context, r Request, h Handler) (Result, error) {
	return follow(ctx, h, func(ctx context.Context) (words, error) {
		s, err := c.dhctl.Destroy(ctx)
		if err != nil {
			return words{}, err
		}
		return words{
			closeSend: s.CloseSend,
			start: func() error {
				return s.Send(&pb.DestroyRequest{Message: &pb.DestroyRequest_Start{Start: &pb.DestroyStart{
					ConnectionConfig: r.Connection, InitConfig: r.InitConfig, ClusterConfig: r.ClusterConfig,
					ProviderSpecificClusterConfig: r.ProviderConfig, State: r.State,
					Options: &pb.DestroyStartOptions{CommanderMode: true, CommanderUuid: r.UUID},
				}}})
			},
			cancel: func() error {
				return s.Send(&pb.DestroyRequest{Message: &pb.DestroyRequest_Cancel{Cancel: &pb.DestroyCancel{}}})
			},
			alive: func() error { return s.Send(&pb.DestroyRequest{}) },
			answer: func(kind pb.Continue, text string) error {
				return s.Send(&pb.DestroyRequest{Message: &pb.DestroyRequest_Continue{Continue: &pb.DestroyContinue{Continue: kind, Err: text}}})
			},
			recv: receive(s.Recv),
		}, nil
	})
}

// Abort deletes what a Bootstrap left unfinished.
func (c *Client) Abort(ctx context.Context, r Request, h Handler) (Result, error) {
	return follow(ctx, h, func(ctx context.Context) (words, error) {
		s, err := c.dhctl.Abort(ctx)
		if err != nil {
			return words{}, err
		}
		return words{
			closeSend: s.CloseSend,
			start: func() error {
				return s.Send(&pb.AbortRequest{Message: &pb.AbortRequest_Start{Start: &pb.AbortStart{
					ConnectionConfig: r.Connection, InitConfig: r.InitConfig, ClusterConfig: r.ClusterConfig,
					ProviderSpecificClusterConfig: r.ProviderConfig, InitResources: r.InitResources, Resources: r.Resources, State: r.State,
					Options: &pb.AbortStartOptions{CommanderMode: true, CommanderUuid: r.UUID},
				}}})
			},
			cancel: func() error {
				return s.Send(&pb.AbortRequest{Message: &pb.AbortRequest_Cancel{Cancel: &pb.AbortCancel{}}})
			},
			alive: func() error { return s.Send(&pb.AbortRequest{}) },
			answer: func(kind pb.Continue, text string) error {
				return s.Send(&pb.AbortRequest{Message: &pb.AbortRequest_Continue{Continue: &pb.AbortContinue{Continue: kind, Err: text}}})
			},
			recv: receive(s.Recv),
		}, nil
	})
}

// phaseEnd is a phase end of any operation that can be followed with it.
type phaseEnd interface {
	comparable
	GetCompletedPhase() string
	GetCompletedPhaseState() map[string][]byte
	GetNextPhase() string
	GetNextPhaseCritical() bool
}

// result is a result of any operation.
type result interface {
	comparable
	GetState() string
	GetErr() string
}

// response is a response of any operation with phase ends.
type response[P phaseEnd, R result] interface {
	GetLogs() *pb.Logs
	GetProgress() *pb.Progress
	GetPhaseEnd() P
	GetResult() R
}

func receive[M response[P, R], P phaseEnd, R result](recv func() (M, error)) func() (said, error) {
	return func() (said, error) {
		m, err := recv()
		if err != nil {
			return said{}, err
		}
		s := said{logs: m.GetLogs(), progress: m.GetProgress()}
		var noPhaseEnd P
		if p := m.GetPhaseEnd(); p != noPhaseEnd {
			state, err := blob(p.GetCompletedPhaseState())
			if err != nil {
				return said{}, err
			}
			s.phaseEnd = &PhaseEnd{Completed: p.GetCompletedPhase(), State: state, Next: p.GetNextPhase(), NextCritical: p.GetNextPhaseCritical()}
		}
		var noResult R
		if r := m.GetResult(); r != noResult {
			s.result = &Result{State: r.GetState(), Err: r.GetErr()}
			if j, ok := any(r).(interface{ GetResult() string }); ok {
				s.result.CheckJSON = j.GetResult()
			}
		}
		return s, nil
	}
}
