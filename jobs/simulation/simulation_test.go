//go:build !race

package simulation_test

import (
	"fmt"
	"testing"

	"commander/jobs/simulation"
)

func start(t *testing.T) simulation.Start {
	t.Helper()
	s, err := simulation.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	schedules = 20_000
	parts     = 4
)

func TestNoScheduleBreaksARule(t *testing.T) {
	t.Parallel()
	s := start(t)
	for part := range uint64(parts) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for seed := part; seed < schedules; seed += parts {
				if problem, end := simulation.Run(t, s, seed); problem != "" {
					t.Fatalf("seed %d: %s\n%s", seed, problem, end)
				}
			}
		})
	}
}

func TestASeedRepeats(t *testing.T) {
	t.Parallel()
	s := start(t)
	for seed := range uint64(50) {
		_, first := simulation.Run(t, s, seed)
		if _, second := simulation.Run(t, s, seed); first != second {
			t.Fatalf("seed %d ended once as\n%sand once as\n%s", seed, first, second)
		}
	}
}
