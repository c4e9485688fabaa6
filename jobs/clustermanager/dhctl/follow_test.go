package dhctl_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	pb "commander/agents/dhctl/dhctlpb"
	play "commander/agents/dhctl/dhctltest"
	"commander/jobs/clustermanager/dhctl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(t *testing.T, s *play.Server) *dhctl.Client {
	t.Helper()
	c, err := dhctl.Dial(t.Context(), s.Address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// story notes what a handler is told.
type story struct {
	told []string
	ends []dhctl.PhaseEnd
}

func (s *story) handler() dhctl.Handler {
	return dhctl.Handler{
		OnLogs:     func(lines []string) { s.told = append(s.told, lines...) },
		OnProgress: func(p *pb.Progress) { s.told = append(s.told, "at "+p.GetCurrentPhase()) },
		OnPhaseEnd: func(_ context.Context, e dhctl.PhaseEnd) (dhctl.Continue, error) {
			s.told = append(s.told, "end "+e.Completed)
			s.ends = append(s.ends, e)
			return dhctl.Next, nil
		},
	}
}

func TestFollowTellsTheWholeStory(t *testing.T) {
	t.Parallel()
	server := play.Play(t,
		play.Log("one", "two"),
		play.Progress(0.1, "BaseInfra"),
		play.PhaseEnd(play.Ending{Completed: "BaseInfra", Next: "AllNodes", Critical: true, State: map[string][]byte{"a": []byte("b")}}),
		play.Result(play.Outcome{State: `{"a":"Yg=="}`, JSON: `{"status":"Converged"}`}),
	)
	var s story
	got, err := dial(t, server).Converge(t.Context(), dhctl.Request{UUID: "u", State: "old", Approved: "id", ClusterConfig: "c", ProviderConfig: "p"}, s.handler())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dhctl.Result{State: `{"a":"Yg=="}`, CheckJSON: `{"status":"Converged"}`}, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if want := []string{"one", "two", "at BaseInfra", "end BaseInfra"}; !slices.Equal(s.told, want) {
		t.Errorf("told: got %v, want %v", s.told, want)
	}
	if diff := cmp.Diff([]dhctl.PhaseEnd{{Completed: "BaseInfra", Next: "AllNodes", NextCritical: true, State: `{"a":"Yg=="}`}}, s.ends); diff != "" {
		t.Errorf("phase end (-want +got):\n%s", diff)
	}
	want := play.Start{Operation: "Converge", UUID: "u", State: "old", Approved: "id", ClusterConfig: "c", ProviderConfig: "p"}
	if diff := cmp.Diff([]play.Start{want}, server.Heard().Starts); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
}

func TestEveryOperationIsAskedByItsName(t *testing.T) {
	t.Parallel()
	operations := map[string]func(*dhctl.Client, context.Context, dhctl.Request, dhctl.Handler) (dhctl.Result, error){
		"Bootstrap": (*dhctl.Client).Bootstrap, "Converge": (*dhctl.Client).Converge, "Check": (*dhctl.Client).Check,
		"Destroy": (*dhctl.Client).Destroy, "Abort": (*dhctl.Client).Abort,
	}
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := play.Play(t, play.PhaseEnd(play.Ending{Completed: "x"}), play.Result(play.Outcome{State: "s"}))
			var s story
			got, err := operation(dial(t, server), t.Context(), dhctl.Request{}, s.handler())
			if err != nil || got.State != "s" {
				t.Errorf("result: got %+v, %v; want state s", got, err)
			}
			if starts := server.Heard().Starts; len(starts) != 1 || starts[0].Operation != name {
				t.Errorf("starts: got %+v, want one %s", starts, name)
			}
		})
	}
}

func TestAnswersAtAPhaseEnd(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		answer  dhctl.Continue
		err     error
		kind    pb.Continue
		stopped bool
	}{
		{"go on", dhctl.Next, nil, pb.Continue_CONTINUE_NEXT_PHASE, false},
		{"stop", dhctl.Stop, nil, pb.Continue_CONTINUE_STOP_OPERATION, true},
		{"fail", dhctl.Next, errors.New("database away"), pb.Continue_CONTINUE_ERROR, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := play.Play(t, play.PhaseEnd(play.Ending{Completed: "x", State: map[string][]byte{}}), play.Result(play.Outcome{State: "{}"}))
			got, err := dial(t, server).Destroy(t.Context(), dhctl.Request{}, dhctl.Handler{
				OnPhaseEnd: func(context.Context, dhctl.PhaseEnd) (dhctl.Continue, error) { return c.answer, c.err },
			})
			if c.err != nil {
				var failed *dhctl.Failed
				if !errors.As(err, &failed) || failed.Text != c.err.Error() {
					t.Errorf("error: got %v, want the caller's own %v", err, c.err)
				}
			} else if err != nil {
				t.Error(err)
			}
			if got.State != "{}" || got.Stopped != c.stopped {
				t.Errorf("result: got %+v, want the state and stopped %v", got, c.stopped)
			}
			if heard := server.Heard().Continues; !slices.Equal(heard, []pb.Continue{c.kind}) {
				t.Errorf("answers: got %v, want %v", heard, c.kind)
			}
		})
	}
}

func TestErrorsHaveTypes(t *testing.T) {
	t.Parallel()
	server := play.Play(t, play.Result(play.Outcome{State: "s", Err: pb.BusyPrefix + "Converge in process 7 holds it"})).
		Then(play.Log("x"), play.Die()).
		Then(play.Result(play.Outcome{State: "s", Err: "no space"}))
	c := dial(t, server)
	got, err := c.Check(t.Context(), dhctl.Request{}, dhctl.Handler{})
	if !errors.Is(err, dhctl.ErrBusy) || got.State != "s" {
		t.Errorf("busy: got %+v, %v; want ErrBusy and the state", got, err)
	}
	var lost *dhctl.Lost
	if _, err := c.Check(t.Context(), dhctl.Request{}, dhctl.Handler{}); !errors.As(err, &lost) {
		t.Errorf("death: got %v, want Lost", err)
	}
	var failed *dhctl.Failed
	if _, err := c.Check(t.Context(), dhctl.Request{}, dhctl.Handler{}); !errors.As(err, &failed) || errors.Is(err, dhctl.ErrBusy) {
		t.Errorf("failure: got %v, want Failed that is not busy", err)
	}
}

func TestCancelledContextStillBringsTheState(t *testing.T) {
	t.Parallel()
	server := play.Play(t, play.Log("working"), play.Stall(), play.Result(play.Outcome{State: "last", Err: "cancelled by the caller"}))
	ctx, cancel := context.WithCancel(t.Context())
	got, err := dial(t, server).Bootstrap(ctx, dhctl.Request{}, dhctl.Handler{OnLogs: func([]string) { cancel() }})
	if err == nil || got.State != "last" || server.Heard().Cancels != 1 {
		t.Errorf("got %+v, %v after %d cancels; want the last state and an error", got, err, server.Heard().Cancels)
	}
}

func TestSignsOfLifeDependOnTheCaller(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	server := play.Play(t, play.Until(over), play.Result(play.Outcome{}))
	client := dial(t, server)
	ticks := 0
	done := make(chan error, 1)
	go func() {
		_, err := client.Check(t.Context(), dhctl.Request{}, dhctl.Handler{
			AliveEvery: time.Millisecond,
			OnAlive: func(context.Context) error {
				if ticks++; ticks <= 2 {
					return errors.New("cannot record it")
				}
				return nil
			},
		})
		done <- err
	}()
	server.Await(t, func(h play.Heard) bool { return h.Alive >= 3 })
	close(over)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if heard := server.Heard().Alive; heard > ticks-2 {
		t.Errorf("signs of life: got %d after %d ticks, want none for the two that failed", heard, ticks)
	}
}
