//go:build !race

package simulation_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"commander/jobs/simulation"
)

var (
	schedules = flag.Uint64("schedules", 100_000, "how many seeds are run; a tenth with -short")
	oneSeed   = flag.Uint64("seed", 0, "with -run TestOneSeed -v: the seed whose events are told")
	oneFault  = flag.String("fault", "", "with -seed: the planted fault")
)

func start(t *testing.T) simulation.Start {
	t.Helper()
	s, err := simulation.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// partOf says to a child which part of the schedules is its own.
const partOf = "SIMULATION_PART"

// TestNoScheduleBreaksARule divides the schedules among processes, one a core: a run does one thing
// at a time, and costs a third less where no other core has to be told.
func TestNoScheduleBreaksARule(t *testing.T) {
	t.Parallel()
	count := *schedules
	if testing.Short() {
		count /= 10
	}
	parts := uint64(runtime.NumCPU())
	if part, err := strconv.ParseUint(os.Getenv(partOf), 10, 64); err == nil {
		s := start(t)
		for seed := part; seed < count; seed += parts {
			if end := simulation.Run(t, s, seed, simulation.Options{}); end.Problem != "" {
				t.Fatalf("seed %d: %s\n%s", seed, end.Problem, end)
			}
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var children sync.WaitGroup
	for part := range parts {
		children.Go(func() {
			c := exec.CommandContext(t.Context(), self, "-test.run=^TestNoScheduleBreaksARule$", "-test.timeout=0", fmt.Sprint("-schedules=", count))
			c.Env = append(os.Environ(), fmt.Sprint(partOf, "=", part), "GOMAXPROCS=1", "GOGC=800")
			if said, err := c.CombinedOutput(); err != nil {
				t.Errorf("part %d: %v\n%s", part, err, said)
			}
		})
	}
	children.Wait()
}

func TestASeedRepeats(t *testing.T) {
	t.Parallel()
	s := start(t)
	for seed := range uint64(50) {
		first := simulation.Run(t, s, seed, simulation.Options{}).String()
		if second := simulation.Run(t, s, seed, simulation.Options{}).String(); first != second {
			t.Fatalf("seed %d ended once as\n%sand once as\n%s", seed, first, second)
		}
	}
}

// TestOneSeed tells what happens in one run, for whoever has to find out why it broke a rule.
func TestOneSeed(t *testing.T) {
	end := simulation.Run(t, start(t), *oneSeed, simulation.Options{Fault: *oneFault, Trace: t.Output()})
	t.Logf("%s\n%s", end.Problem, end)
	if end.Problem != "" && *oneFault == "" {
		t.Errorf("seed %d breaks a rule", *oneSeed)
	}
}
