package dhctltest

import (
	pb "commander/agents/dhctl/dhctlpb"
)

// actor is the service whose every operation plays the next script.
type actor struct {
	pb.UnimplementedDHCTLServer

	server *Server
}

// continued is a continue of any operation.
type continued interface {
	comparable
	GetContinue() pb.Continue
	GetErr() string
}

func replied[C continued](c C) *reply {
	var none C
	if c == none {
		return nil
	}
	return &reply{kind: c.GetContinue(), text: c.GetErr()}
}

// Bootstrap implements pb.DHCTLServer.
func (a *actor) Bootstrap(s pb.DHCTL_BootstrapServer) error {
	return a.server.play(s.Context(), true, func() (hearing, error) {
		m, err := s.Recv()
		h := hearing{reply: replied(m.GetContinue()), cancel: m.GetCancel() != nil}
		if b := m.GetStart(); b != nil {
			h.start = &Start{
				Operation: "Bootstrap", UUID: b.GetOptions().GetCommanderUuid(), State: b.GetState(), Resources: b.GetResources(),
				ClusterConfig: b.GetClusterConfig(), ProviderConfig: b.GetProviderSpecificClusterConfig(),
			}
		}
		return h, err
	}, func(say saying) error {
		m := &pb.BootstrapResponse{}
		switch {
		case say.logs != nil:
			m.Message = &pb.BootstrapResponse_Logs{Logs: say.logs}
		case say.progress != nil:
			m.Message = &pb.BootstrapResponse_Progress{Progress: say.progress}
		case say.end != nil:
			m.Message = &pb.BootstrapResponse_PhaseEnd{PhaseEnd: &pb.BootstrapPhaseEnd{
				CompletedPhase: say.end.Completed, CompletedPhaseState: say.end.State, NextPhase: say.end.Next, NextPhaseCritical: say.end.Critical,
			}}
		case say.outcome != nil:
			m.Message = &pb.BootstrapResponse_Result{Result: &pb.BootstrapResult{State: say.outcome.State, Err: say.outcome.Err}}
		}
		return s.Send(m)
	})
}

// Check implements pb.DHCTLServer.
func (a *actor) Check(s pb.DHCTL_CheckServer) error {
	return a.server.play(s.Context(), false, func() (hearing, error) {
		m, err := s.Recv()
		h := hearing{cancel: m.GetCancel() != nil}
		if b := m.GetStart(); b != nil {
			h.start = &Start{
				Operation: "Check", UUID: b.GetOptions().GetCommanderUuid(), State: b.GetState(),
				ClusterConfig: b.GetClusterConfig(), ProviderConfig: b.GetProviderSpecificClusterConfig(),
			}
		}
		return h, err
	}, func(say saying) error {
		m := &pb.CheckResponse{}
		switch {
		case say.logs != nil:
			m.Message = &pb.CheckResponse_Logs{Logs: say.logs}
		case say.progress != nil:
			m.Message = &pb.CheckResponse_Progress{Progress: say.progress}
		case say.outcome != nil:
			m.Message = &pb.CheckResponse_Result{Result: &pb.CheckResult{State: say.outcome.State, Err: say.outcome.Err, Result: say.outcome.JSON}}
		}
		return s.Send(m)
	})
}
