package main

import (
	"os"
	"os/exec"
	"testing"
)

func TestOwnProcess(t *testing.T) {
	t.Parallel()
	m, err := memoryOf(os.Getpid())
	if err != nil || m.rss < 1<<20 || m.pss > m.rss {
		t.Errorf("got %+v, %v: want more than a MiB, and shared pages counted once", m, err)
	}
	if used, err := cpuOf(os.Getpid()); err != nil || used < 0 {
		t.Errorf("got %v, %v", used, err)
	}
}

func TestProcessesAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	in, err := os.CreateTemp(t.TempDir(), "waits")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tail", "-f", in.Name())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	found := processesWith(in.Name())
	if pids := found["tail"]; len(pids) != 1 || pids[0] != cmd.Process.Pid {
		t.Errorf("got %v, want process %d as tail", found, cmd.Process.Pid)
	}
}
