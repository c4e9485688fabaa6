package earlyoom

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"commander/internal/clock"
)

// bench is a monitor over a sample that the test changes.
type bench struct {
	*Monitor
	sample Sample
	err    error
	killed []string
	told   int
}

func newBench() *bench {
	b := &bench{sample: pressed()}
	b.Monitor = &Monitor{
		Rules: rules, Clock: clock.At(start), Log: slog.New(slog.DiscardHandler),
		Metrics: NewMetrics(prometheus.NewRegistry()),
		Sample:  func() (Sample, error) { return b.sample, b.err },
		Kill:    func(_ context.Context, p Pod) error { b.killed = append(b.killed, p.Name); return nil },
		Tell: func(context.Context, Pod, Sample, time.Time) error {
			b.told++
			return errors.New("the API server is away")
		},
	}
	return b
}

// One victim for a time of pressure; that nobody can be told of it does not matter.
func TestMonitorEndsOnePod(t *testing.T) {
	t.Parallel()
	b := newBench()
	for range 5 {
		if _, err := b.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.killed) != 1 || b.killed[0] != "web" || b.told != 1 {
		t.Errorf("killed %v and told %d times, want web once", b.killed, b.told)
	}
	if got := testutil.ToFloat64(b.Metrics.verdicts.WithLabelValues("cooling")); got != 4 {
		t.Errorf("got %v samples while cooling, want 4", got)
	}
}

// A monitor that may not act must not look healthy.
func TestMonitorFailsIfItCannotEndAPod(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.Kill = func(context.Context, Pod) error { return errors.New("operation not permitted") }
	if err := b.Run(t.Context(), nil); err == nil {
		t.Error("got no error, want the program to end")
	}
}

func TestMonitorIdlesWithoutPSI(t *testing.T) {
	t.Parallel()
	b := newBench()
	none := Node{Proc: t.TempDir(), Cgroups: Cgroups{Memory: filepath.Join(t.TempDir(), "memory")}}
	b.Sample = none.Sample
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.Run(ctx, nil) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for testutil.ToFloat64(b.Metrics.unavailable) != 1 {
		select {
		case err := <-done:
			t.Fatalf("ended with %v, want it to stay", err)
		case <-tick.C:
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("got %v, want a quiet end", err)
	}
}

// An alarm brings the next sample at once, not at the next tick.
func TestMonitorWakesByAlarm(t *testing.T) {
	t.Parallel()
	b := newBench()
	calm := b.sample
	calm.Node.Avg10 = 0
	samples, alarm := make(chan Sample), make(chan struct{})
	b.Sample = func() (Sample, error) { return <-samples, nil }
	killed := make(chan string, 1)
	b.Kill = func(_ context.Context, p Pod) error { killed <- p.Name; return nil }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() { done <- b.Run(ctx, alarm) }()
	samples <- calm
	alarm <- struct{}{}
	samples <- b.sample
	if got := <-killed; got != "web" {
		t.Errorf("killed %s, want web", got)
	}
	cancel()
	select {
	case <-done:
	case samples <- calm: // the timer may have fired meanwhile
		<-done
	}
}
