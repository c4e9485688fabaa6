package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// schedules runs the simulation of the task machine with many seeds. The first that breaks a rule ends
// the measurement and is named.
func (b *bench) schedules(ctx context.Context) ([]figure, error) {
	test := filepath.Join(b.dir, "simulation.test")
	if out, err := exec.CommandContext(ctx, "go", "test", "-C", "..", "-c", "-o", test, "./jobs/simulation").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the simulation: %w: %s", err, out)
	}
	began := time.Now()
	out, err := exec.CommandContext(ctx, test, "-test.run=^TestNoScheduleBreaksARule$", "-test.timeout=0",
		"-schedules="+strconv.Itoa(b.Schedules)).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("run the simulation: %w: %s", err, out)
	}
	took := samples{time.Since(began).Seconds()}
	return []figure{
		{what: fmt.Sprintf("%d schedules, none of which broke a rule", b.Schedules), samples: took, unit: seconds},
		{what: "schedules a second", samples: samples{float64(b.Schedules) / took[0]}, unit: whole},
	}, nil
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
