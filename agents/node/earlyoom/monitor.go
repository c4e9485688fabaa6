package earlyoom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"commander/internal/clock"
)

const (
	// pollEvery is the pause between samples while the node is calm; where the kernel has
	// triggers they shorten it.
	pollEvery = 5 * time.Second
	// alertEvery is the pause after an alarm, until the node was calm for alertFor. The kernel
	// itself renews its averages every two seconds.
	alertEvery = 500 * time.Millisecond
	alertFor   = 20 * time.Second
	// killBound is how long a victim's processes may take to go. A process that waits for a disk
	// cannot be ended before the disk answers.
	killBound = 30 * time.Second
	// tellBound keeps an API server that does not answer from delaying the next sample.
	tellBound = 5 * time.Second
)

// Monitor watches a node and ends a victim when the decision says so.
type Monitor struct {
	Rules   Rules
	Sample  func() (Sample, error)
	Kill    func(context.Context, Pod) error
	Tell    func(context.Context, Pod, Sample, time.Time) error
	Metrics *Metrics
	Clock   clock.Clock
	Log     *slog.Logger

	state State
}

// Run looks at the node at each tick of the clock and at each alarm until ctx ends. Without PSI
// it says so in the log and the metrics and idles, since starting again would not help. It fails
// if a victim cannot be ended: a monitor that cannot act must be seen.
func (m *Monitor) Run(ctx context.Context, alarm <-chan struct{}) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var alertUntil time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-alarm:
			alertUntil = m.Clock.Now().Add(alertFor)
		case <-timer.C:
		}
		verdict, err := m.Step(ctx)
		if errors.Is(err, ErrNoPSI) {
			m.Metrics.unavailable.Set(1)
			m.Log.Warn("the kernel measures no memory pressure: nothing is watched", "error", err)
			<-ctx.Done()
			return nil
		}
		if err != nil {
			return err
		}
		if now := m.Clock.Now(); verdict != Calm {
			alertUntil = now.Add(alertFor)
		}
		pause := pollEvery
		if m.Clock.Now().Before(alertUntil) {
			pause = alertEvery
		}
		timer.Reset(pause)
	}
}

// Step takes one sample and acts on it.
func (m *Monitor) Step(ctx context.Context) (Verdict, error) {
	now := m.Clock.Now()
	sample, err := m.Sample()
	if err != nil {
		return "", fmt.Errorf("look at the node: %w", err)
	}
	m.Metrics.pressure.Set(sample.Node.Avg10)
	state, verdict, victim := Decide(m.Rules, m.state, sample, now)
	m.state = state
	m.Metrics.verdicts.WithLabelValues(string(verdict)).Inc()
	if verdict != Act {
		return verdict, nil
	}
	bounded, cancel := context.WithTimeout(ctx, killBound)
	defer cancel()
	if err := m.Kill(bounded, victim); err != nil {
		return verdict, err
	}
	m.Metrics.killSeconds.Observe(m.Clock.Now().Sub(now).Seconds())
	m.Log.Warn("ended a pod", "namespace", victim.Namespace, "pod", victim.Name, "used", victim.Usage,
		"pressure", sample.Node.Avg10, "available", sample.Available)
	telling, cancel := context.WithTimeout(ctx, tellBound)
	defer cancel()
	if err := m.Tell(telling, victim, sample, now); err != nil {
		m.Log.Warn("nobody was told of the ended pod", "error", err)
	}
	return verdict, nil
}
