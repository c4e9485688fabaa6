package dhctl

import (
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

func progressMessage(p phases.Progress) *pb.Progress {
	m := &pb.Progress{
		Operation: p.Operation, Progress: p.Share,
		CompletedPhase: p.CompletedPhase, CurrentPhase: p.CurrentPhase, NextPhase: p.NextPhase,
		CompletedSubPhase: p.CompletedSub, CurrentSubPhase: p.CurrentSub, NextSubPhase: p.NextSub,
	}
	for _, l := range p.Phases {
		m.Phases = append(m.Phases, &pb.ProgressPhase{Phase: l.Phase, SubPhases: l.Subs, Action: l.Action})
	}
	return m
}

// reply is a caller's continue in any of its types.
type reply interface {
	comparable
	GetContinue() pb.Continue
	GetErr() string
}

// answered is nil when there is no reply in the message.
func answered[R reply](r R) *answer {
	var none R
	if r == none {
		return nil
	}
	return &answer{kind: r.GetContinue(), err: r.GetErr()}
}
