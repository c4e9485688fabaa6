package earlyoom

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"commander/internal/clock"
	"commander/internal/kubetest"
)

// From the kernel's alarm to the moment at which all processes of the victim are gone, with real
// processes in real control groups; the pressure and the memory of the node are those of a file.
func TestFigureOfAnEndedPod(t *testing.T) {
	kubetest.Figures(t)
	c := machine(t)
	for _, group := range []string{"kubepods", "kubepods/burstable", podCgroup} {
		c.group(t, group)
	}
	dir := t.TempDir()
	short := fmt.Sprintf("MemTotal: %d kB\nMemAvailable: %d kB\n", 1<<20, 1<<10)
	write(t, dir, map[string]string{"proc/meminfo": short, "proc/pressure/memory": psi("80.00")})
	seen := c
	seen.Pressure = "" // the pressure of the file, and not that of this machine
	node := Node{Proc: filepath.Join(dir, "proc"), Cgroups: seen, Pods: known{"1a-2b": {Namespace: "shop", Name: "web"}}}
	var took []time.Duration
	for range 50 {
		var victims []*exec.Cmd
		for range 5 {
			cmd, _ := c.start(t, podCgroup, "still")
			victims = append(victims, cmd)
		}
		done := make(chan time.Time, 1)
		m := &Monitor{
			Rules: Rules{Threshold: 30, Available: 0.1, Pause: time.Second},
			Sample: func() (Sample, error) {
				s, err := node.Sample()
				for i := range s.Pods {
					s.Pods[i].Usage = 1 << 29 // the processes only live
				}
				return s, err
			},
			Kill:    func(ctx context.Context, pod Pod) error { err := c.Kill(ctx, pod); done <- time.Now(); return err },
			Tell:    func(context.Context, Pod, Sample, time.Time) error { return nil },
			Metrics: NewMetrics(prometheus.NewRegistry()), Clock: clock.System{}, Log: slog.New(slog.DiscardHandler),
		}
		began := time.Now()
		if verdict, err := m.Step(t.Context()); err != nil || verdict != Act {
			t.Fatalf("got %s, %v", verdict, err)
		}
		took = append(took, (<-done).Sub(began))
		for _, victim := range victims {
			if !zombie(victim.Process.Pid) {
				t.Fatal("a process is still there")
			}
		}
	}
	t.Logf("5 processes gone after median %s, p99 %s", kubetest.At(took, 0.5), kubetest.At(took, 0.99))
}
