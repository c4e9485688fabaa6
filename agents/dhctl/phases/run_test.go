package phases_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/agents/dhctl/phases"
	"commander/agents/dhctl/state"
)

// recorder is a caller that remembers everything and answers phase ends by a rule.
type recorder struct {
	ends     []phases.End
	progress []phases.Progress
	answer   func(phases.End) error
}

func (r *recorder) caller() phases.Caller {
	return phases.Caller{
		PhaseEnd: func(_ context.Context, end phases.End) error {
			r.ends = append(r.ends, end)
			if r.answer != nil {
				return r.answer(end)
			}
			return nil
		},
		Progress: func(p phases.Progress) { r.progress = append(r.progress, p) },
	}
}

func (r *recorder) walk() []string {
	var walk []string
	for _, e := range r.ends {
		mark := ""
		if e.NextCritical {
			mark = "!"
		}
		walk = append(walk, e.Completed+">"+e.Next+mark)
	}
	return walk
}

func cache(t *testing.T, blob string) *state.Cache {
	t.Helper()
	c, err := state.Open(t.TempDir(), blob)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// steps is three phases, the middle one skipped and the last one in two parts, that note what they do.
func steps(input string, did *[]string, fail string) []phases.Step {
	work := func(name string) func(context.Context) error {
		return func(context.Context) error {
			*did = append(*did, name)
			if name == fail {
				return errors.New("no space")
			}
			return nil
		}
	}
	return []phases.Step{
		{Phase: "one", Input: input, Run: work("one")},
		{Phase: "never", Skip: true, Run: work("never")},
		{Phase: "two", Input: input, Critical: func() bool { return true }, Parts: []phases.Part{{"a", work("a")}, {"b", work("b")}}},
	}
}

func TestRunWalksThroughAllPhases(t *testing.T) {
	t.Parallel()
	var did []string
	var r recorder
	c := cache(t, "")
	if err := phases.Run(t.Context(), "Op", steps("input", &did, ""), c, r.caller()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"one", "a", "b"}; !slices.Equal(did, want) {
		t.Errorf("work done: got %v, want %v", did, want)
	}
	if want := []string{">one", "one>two!", "two>"}; !slices.Equal(r.walk(), want) {
		t.Errorf("phase ends: got %v, want %v", r.walk(), want)
	}
	var shares []float64
	for _, p := range r.progress {
		shares = append(shares, p.Share)
		if len(p.Phases) != 3 || p.Phases[1].Action != phases.ActionSkip || p.Phases[2].Action != phases.ActionDefault {
			t.Errorf("phases in progress: got %+v, want the middle one of three skipped", p.Phases)
		}
	}
	if want := []float64{0, 1. / 3, 2. / 3, 1}; !slices.Equal(shares, want) {
		t.Errorf("shares: got %v, want %v", shares, want)
	}
	if left, _ := c.Snapshot(); len(left) != 0 {
		t.Errorf("state after success: got %v, want no record of phases", left)
	}
}

func TestRunEndsWhereTheCallerSays(t *testing.T) {
	t.Parallel()
	away := errors.New("database away")
	for name, answer := range map[string]error{"stop": phases.ErrStop, "error": away} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var did []string
			r := recorder{answer: func(e phases.End) error {
				if e.Completed == "one" {
					return answer
				}
				return nil
			}}
			err := phases.Run(t.Context(), "Op", steps("input", &did, ""), cache(t, ""), r.caller())
			if !errors.Is(err, answer) {
				t.Errorf("error: got %v, want %v", err, answer)
			}
			if want := []string{"one"}; !slices.Equal(did, want) {
				t.Errorf("work done: got %v, want %v", did, want)
			}
		})
	}
}

func TestRunFailsWithThePhaseAndPartialProgress(t *testing.T) {
	t.Parallel()
	var did []string
	var r recorder
	err := phases.Run(t.Context(), "Op", steps("input", &did, "b"), cache(t, ""), r.caller())
	if err == nil || err.Error() != "two: no space" {
		t.Errorf("error: got %v, want two: no space", err)
	}
	last := r.progress[len(r.progress)-1]
	if last.Share >= 1 || last.CurrentPhase != "two" || last.CurrentSub != "b" || last.CompletedSub != "a" {
		t.Errorf("last progress: got %+v, want below 1 and pointing at two/b", last)
	}
}

func TestRunResumes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name      string
		operation string
		input     string
		want      []string
	}{
		{"the same request goes on", "Op", "input", []string{"a", "b"}},
		{"another request begins anew", "Op", "other", []string{"one", "a", "b"}},
		{"another operation begins anew", "Other", "input", []string{"one", "a", "b"}},
		{"a request without identity begins anew", "Op", "", []string{"one", "a", "b"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var first []string
			failed := recorder{}
			_ = phases.Run(t.Context(), "Op", steps("input", &first, "b"), cache(t, ""), failed.caller())
			// What the caller stored at the last phase end is all that the next attempt gets.
			blob, err := state.Encode(failed.ends[len(failed.ends)-1].State)
			if err != nil {
				t.Fatal(err)
			}
			var did []string
			var r recorder
			if err := phases.Run(t.Context(), c.operation, steps(c.input, &did, ""), cache(t, blob), r.caller()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, did); diff != "" {
				t.Errorf("work of the second attempt (-want +got):\n%s", diff)
			}
			if !slices.IsSortedFunc(r.progress, func(a, b phases.Progress) int {
				if a.Share > b.Share {
					return 1
				}
				return -1
			}) {
				t.Errorf("progress went back: %+v", r.progress)
			}
		})
	}
}

func TestRunForgetsARecordThatAnotherRequestReplaced(t *testing.T) {
	t.Parallel()
	var did []string
	failed := recorder{}
	c := cache(t, "")
	_ = phases.Run(t.Context(), "Op", steps("input", &did, "b"), c, failed.caller())
	_ = phases.Run(t.Context(), "Op", steps("other", &did, "one"), c, failed.caller())
	did = nil
	if err := phases.Run(t.Context(), "Op", steps("input", &did, ""), c, failed.caller()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"one", "a", "b"}; !slices.Equal(did, want) {
		t.Errorf("work done: got %v, want %v", did, want)
	}
}

func TestRunSkipsTheRestWhenAPhaseSaysSo(t *testing.T) {
	t.Parallel()
	var r recorder
	enough := []phases.Step{
		{Phase: "check", Run: func(context.Context) error { return phases.ErrDone }},
		{Phase: "change", Run: func(context.Context) error { t.Error("changed something"); return nil }},
	}
	if err := phases.Run(t.Context(), "Op", enough, cache(t, ""), r.caller()); err != nil {
		t.Fatal(err)
	}
	if want := []string{">check", "check>"}; !slices.Equal(r.walk(), want) {
		t.Errorf("phase ends: got %v, want %v", r.walk(), want)
	}
	if got := r.progress[len(r.progress)-1].Share; got != 1 {
		t.Errorf("last share: got %v, want 1", got)
	}
}

func TestRunNoticesThatItsContextEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var r recorder
	err := phases.Run(ctx, "Op", []phases.Step{{Phase: "deaf", Run: func(context.Context) error {
		cancel()
		return nil
	}}}, cache(t, ""), r.caller())
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "deaf: ") {
		t.Errorf("error: got %v, want the cancellation in phase deaf", err)
	}
}

func TestCatalogSpeaksBothLanguages(t *testing.T) {
	t.Parallel()
	for _, catalog := range []map[string]phases.Titles{phases.Catalog, phases.SubCatalog} {
		for phase, titles := range catalog {
			if titles["en"] == "" || titles["ru"] == "" {
				t.Errorf("titles of %s: got %v, want en and ru", phase, titles)
			}
		}
	}
}
