package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"commander/internal/kubetest"
)

// A pass in which nothing is to be done, by the program as it is installed: shell, program and all.
func TestFigureOfAPassWithNothingToDo(t *testing.T) {
	kubetest.Figures(t)
	m := newMachine(t, "figure")
	binary := filepath.Join(t.TempDir(), "bashible")
	build := exec.Command("go", "build", "-o", binary, "commander/cmd/bashible")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, said)
	}
	for i, e := range m.env {
		if strings.HasPrefix(e, "BASHIBLE_RUNNER=") {
			m.env[i] = "BASHIBLE_RUNNER=" + binary
		}
	}
	m.publish("one", map[string]string{"010_count.sh": count})
	m.settled("one")
	m.must(exec.Command("chmod", "0700", m.path("state/bashible.sh")).Run())
	var cpu, wall []time.Duration
	var memory float64
	for i := range 100 {
		m.put("uptime", fmt.Sprintf("%d.00 1.00\n", 100+i))
		command := exec.Command(m.path("state/bashible.sh"))
		command.Env = m.env
		began := time.Now()
		m.must(command.Start())
		most := make(chan float64)
		go func() { most <- highWater(command.Process.Pid) }()
		m.must(command.Wait())
		memory = max(memory, <-most)
		wall = append(wall, time.Since(began))
		used := command.ProcessState.SysUsage().(*syscall.Rusage)
		cpu = append(cpu, time.Duration(used.Utime.Nano()+used.Stime.Nano()))
	}
	if m.count() != 0 {
		t.Fatal("steps ran")
	}
	t.Logf("CPU median %s, p99 %s; wall median %s; at most %.1f MiB resident", kubetest.At(cpu, 0.5), kubetest.At(cpu, 0.99), kubetest.At(wall, 0.5), memory)
}

// highWater is the most that a process held in memory until it ended, in MiB. What the kernel says of
// an ended process counts the memory of whoever started it as well.
func highWater(pid int) (most float64) {
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, found := strings.Cut(string(status), "VmHWM:")
		if err != nil || !found {
			return most // it has ended
		}
		var kib float64
		if _, err := fmt.Sscan(rest, &kib); err == nil {
			most = max(most, kib/1024)
		}
		time.Sleep(time.Millisecond)
	}
}
