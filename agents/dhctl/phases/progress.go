package phases

// Actions of a phase in Progress.
const (
	ActionDefault = "default"
	ActionSkip    = "skip"
)

// Progress is where an operation stands.
type Progress struct {
	Operation string
	// Share is the part of the work that is done, from 0 to 1. It never goes back and is 1
	// only when the operation succeeded.
	Share                                   float64
	CompletedPhase, CurrentPhase, NextPhase string
	CompletedSub, CurrentSub, NextSub       string
	Phases                                  []Listed
}

// Listed is a phase in the overview that every Progress carries.
type Listed struct {
	Phase  string
	Subs   []string
	Action string
}

// tracker counts work in units: a phase has one for each of its parts, or one.
type tracker struct {
	operation string
	listed    []Listed
	done      int
	total     int
	tell      func(Progress)
}

func newTracker(operation string, steps []Step, tell func(Progress)) *tracker {
	t := &tracker{operation: operation, tell: tell}
	for _, s := range steps {
		l := Listed{Phase: s.Phase, Action: ActionDefault}
		for _, part := range s.Parts {
			l.Subs = append(l.Subs, part.Name)
		}
		if s.Skip {
			l.Action = ActionSkip
		} else {
			t.total += s.units()
		}
		t.listed = append(t.listed, l)
	}
	return t
}

func (t *tracker) at(p Progress) {
	p.Operation, p.Phases = t.operation, t.listed
	p.Share = float64(t.done) / float64(max(t.total, 1))
	t.tell(p)
}

// finish is the only way to a share of 1.
func (t *tracker) finish(last string) {
	t.tell(Progress{Operation: t.operation, Phases: t.listed, Share: 1, CompletedPhase: last})
}
