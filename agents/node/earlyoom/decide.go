package earlyoom

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Sample is how a node is at one moment.
type Sample struct {
	Node      Pressure
	Total     uint64 // memory of the node, bytes
	Available uint64 // of it available without swapping, bytes
	// Outside is the stall of what runs outside of pods, in percent as Pressure.Avg10; negative
	// if it cannot be measured.
	Outside float64
	Pods    []Pod
}

// Pod is what the decision needs to know about one.
type Pod struct {
	UID, Namespace, Name string
	Priority             int32
	Static               bool
	Request              uint64 // memory that its containers request, bytes
	Usage                uint64 // working set, bytes
	// Stall is avg10 of the pod's own pressure in percent; negative if it cannot be measured.
	Stall float64
	// Confined means that what stalls in the pod is at a limit of its own.
	Confined bool
	Cgroup   string // its path below the roots, for the killer
}

// Rules are the numbers of the decision.
type Rules struct {
	Threshold float64       // percent of full avg10; only more than that counts
	Available float64       // share of the memory, 0 to 1; only at or below that the node is short
	Pause     time.Duration // least time between two victims
}

// State is what the decision remembers from one sample to the next.
type State struct {
	Cooling bool // a victim was ended and the pressure has not fallen since
	Last    time.Time
}

// Verdict is what a sample means.
type Verdict string

// Verdicts.
const (
	Calm      Verdict = "calm"      // no pressure
	Contained Verdict = "contained" // pressure of pods at limits of their own, the node has memory
	Cooling   Verdict = "cooling"   // pressure, but the last victim's memory may be on its way
	Helpless  Verdict = "helpless"  // the node is short and no pod may be ended
	Act       Verdict = "act"       // the victim shall be ended
)

const (
	// criticalPriority is that of system-cluster-critical, the lower of the two built-in classes.
	criticalPriority = 2_000_000_000
	// worthwhile is the least share of the node's memory that is worth a pod's end.
	worthwhile = 0.01
	// released is the share of the threshold to which pressure falls before the next victim.
	released = 0.5
)

// Decide judges a sample. It is pure: the same arguments give the same answer.
func Decide(r Rules, s State, sample Sample, now time.Time) (State, Verdict, Pod) {
	if s.Cooling && sample.Node.Avg10 <= r.Threshold*released && now.Sub(s.Last) >= r.Pause {
		s.Cooling = false
	}
	switch {
	case sample.Node.Avg10 <= r.Threshold:
		return s, Calm, Pod{}
	case s.Cooling:
		return s, Cooling, Pod{}
	case !short(r, sample):
		return s, Contained, Pod{}
	}
	victim, found := Victim(sample)
	if !found {
		return s, Helpless, Pod{}
	}
	return State{Cooling: true, Last: now}, Act, victim
}

// short tells pressure of the node from pressure inside cgroups.
func short(r Rules, s Sample) bool {
	if float64(s.Available) > r.Available*float64(s.Total) {
		return false
	}
	if s.Outside < 0 || s.Outside > r.Threshold {
		return true
	}
	return slices.ContainsFunc(s.Pods, func(p Pod) bool {
		return (p.Stall < 0 || p.Stall > r.Threshold) && !p.Confined
	})
}

// Victim is the pod to end first, by the order of the package's comment.
func Victim(s Sample) (Pod, bool) {
	var may []Pod
	for _, p := range s.Pods {
		if !p.Static && p.Priority < criticalPriority && float64(p.Usage) >= worthwhile*float64(s.Total) {
			may = append(may, p)
		}
	}
	if len(may) == 0 {
		return Pod{}, false
	}
	return slices.MinFunc(may, func(a, b Pod) int {
		return cmp.Or(
			yesLast(a.system(), b.system()),
			-yesLast(a.excess() > 0, b.excess() > 0),
			cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(b.excess(), a.excess()),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
		)
	}), true
}

func (p Pod) system() bool {
	return p.Namespace == "kube-system" || strings.HasPrefix(p.Namespace, "d8-")
}

// excess is use over request, bytes; negative below the request.
func (p Pod) excess() int64 { return int64(p.Usage) - int64(p.Request) }

func yesLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}
