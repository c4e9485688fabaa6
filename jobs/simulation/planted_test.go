//go:build !race

package simulation_test

import (
	"testing"

	"commander/jobs/simulation"
)

// Each of these, planted in what the task machine stands on, breaks a rule in some schedule: a rule
// that no fault can break would hold nothing.
var faults = []string{
	"beat on another clock",
	"progress goes back",
	"whole at any end",
	"same attempt again",
	"impatient",
	"a forgotten kind",
	"delivered without end",
	"no lock in the engine",
}

// within is how many schedules may pass before a fault is found.
const within = 1_000

func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(within) {
				if problem, _ := simulation.Run(t, s, seed, fault); problem != "" {
					t.Logf("seed %d: %s", seed, problem)
					return
				}
			}
			t.Errorf("%d schedules did not find it", within)
		})
	}
}
