package dhctltest

import (
	pb "commander/agents/dhctl/dhctlpb"
)

// Converge implements pb.DHCTLServer.
func (a *actor) Converge(s pb.DHCTL_ConvergeServer) error {
	return a.server.play(s.Context(), true, func() (hearing, error) {
		m, err := s.Recv()
		h := hearing{reply: replied(m.GetContinue()), cancel: m.GetCancel() != nil}
		if b := m.GetStart(); b != nil {
			h.start = &Start{
				Operation: "Converge", UUID: b.GetOptions().GetCommanderUuid(), State: b.GetState(), Approved: b.GetApproveDestructionChangeId(),
				ClusterConfig: b.GetClusterConfig(), ProviderConfig: b.GetProviderSpecificClusterConfig(),
			}
		}
		return h, err
	}, func(say saying) error {
		m := &pb.ConvergeResponse{}
		switch {
		case say.logs != nil:
			m.Message = &pb.ConvergeResponse_Logs{Logs: say.logs}
		case say.progress != nil:
			m.Message = &pb.ConvergeResponse_Progress{Progress: say.progress}
		case say.end != nil:
			m.Message = &pb.ConvergeResponse_PhaseEnd{PhaseEnd: &pb.ConvergePhaseEnd{
				CompletedPhase: say.end.Completed, CompletedPhaseState: say.end.State, NextPhase: say.end.Next, NextPhaseCritical: say.end.Critical,
			}}
		case say.outcome != nil:
			m.Message = &pb.ConvergeResponse_Result{Result: &pb.ConvergeResult{State: say.outcome.State, Err: say.outcome.Err, Result: say.outcome.JSON}}
		}
		return s.Send(m)
	})
}

// Destroy implements pb.DHCTLServer.
func (a *actor) Destroy(s pb.DHCTL_DestroyServer) error {
	return a.server.play(s.Context(), true, func() (hearing, error) {
		m, err := s.Recv()
		h := hearing{reply: replied(m.GetContinue()), cancel: m.GetCancel() != nil}
		if b := m.GetStart(); b != nil {
			h.start = &Start{
				Operation: "Destroy", UUID: b.GetOptions().GetCommanderUuid(), State: b.GetState(),
				ClusterConfig: b.GetClusterConfig(), ProviderConfig: b.GetProviderSpecificClusterConfig(),
			}
		}
		return h, err
	}, func(say saying) error {
		m := &pb.DestroyResponse{}
		switch {
		case say.logs != nil:
			m.Message = &pb.DestroyResponse_Logs{Logs: say.logs}
		case say.progress != nil:
			m.Message = &pb.DestroyResponse_Progress{Progress: say.progress}
		case say.end != nil:
			m.Message = &pb.DestroyResponse_PhaseEnd{PhaseEnd: &pb.DestroyPhaseEnd{
				CompletedPhase: say.end.Completed, CompletedPhaseState: say.end.State, NextPhase: say.end.Next, NextPhaseCritical: say.end.Critical,
			}}
		case say.outcome != nil:
			m.Message = &pb.DestroyResponse_Result{Result: &pb.DestroyResult{State: say.outcome.State, Err: say.outcome.Err}}
		}
		return s.Send(m)
	})
}

// Abort implements pb.DHCTLServer.
func (a *actor) Abort(s pb.DHCTL_AbortServer) error {
	return a.server.play(s.Context(), true, func() (hearing, error) {
		m, err := s.Recv()
		h := hearing{reply: replied(m.GetContinue()), cancel: m.GetCancel() != nil}
		if b := m.GetStart(); b != nil {
			h.start = &Start{
				Operation: "Abort", UUID: b.GetOptions().GetCommanderUuid(), State: b.GetState(), Resources: b.GetResources(),
				ClusterConfig: b.GetClusterConfig(), ProviderConfig: b.GetProviderSpecificClusterConfig(),
			}
		}
		return h, err
	}, func(say saying) error {
		m := &pb.AbortResponse{}
		switch {
		case say.logs != nil:
			m.Message = &pb.AbortResponse_Logs{Logs: say.logs}
		case say.progress != nil:
			m.Message = &pb.AbortResponse_Progress{Progress: say.progress}
		case say.end != nil:
			m.Message = &pb.AbortResponse_PhaseEnd{PhaseEnd: &pb.AbortPhaseEnd{
				CompletedPhase: say.end.Completed, CompletedPhaseState: say.end.State, NextPhase: say.end.Next, NextPhaseCritical: say.end.Critical,
			}}
		case say.outcome != nil:
			m.Message = &pb.AbortResponse_Result{Result: &pb.AbortResult{State: say.outcome.State, Err: say.outcome.Err}}
		}
		return s.Send(m)
	})
}
