package kubetest

import (
	"os"
	"slices"
	"testing"
	"time"
)

// Figures lets a test measure only where COMMANDER_FIGURES=1 asks for it: what it finds depends on
// the machine, and bench/README.md has it.
func Figures(t testing.TB) {
	t.Helper()
	if os.Getenv("COMMANDER_FIGURES") != "1" {
		t.Skip("not run: it only measures; COMMANDER_FIGURES=1 asks for it")
	}
}

// At is the duration below which a share (0 to 1) of the samples lies.
func At(samples []time.Duration, share float64) time.Duration {
	sorted := slices.Clone(samples)
	slices.Sort(sorted)
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
