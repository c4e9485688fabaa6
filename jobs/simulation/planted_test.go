//go:build !race

package simulation_test

import (
	"testing"

	"commander/jobs/simulation"
)

// within is how many schedules may pass before a fault is found.
const within = 1_000

func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, fault := range simulation.Planted() {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(within) {
				if problem := simulation.Run(t, s, seed, simulation.Options{Fault: fault}).Problem; problem != "" {
					t.Logf("seed %d: %s", seed, problem)
					return
				}
			}
			t.Errorf("%d schedules did not find it", within)
		})
	}
}
