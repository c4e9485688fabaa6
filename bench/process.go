package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory is what a process holds, in bytes: PSS divides pages that processes share among them.
type memory struct{ rss, pss float64 }

func memoryOf(pid int) (memory, error) {
	body, err := os.ReadFile(proc(pid, "smaps_rollup"))
	if err != nil {
		return memory{}, fmt.Errorf("read memory of process %d: %w", pid, err)
	}
	var m memory
	for line := range strings.Lines(string(body)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] != "kB" {
			continue
		}
		kibibytes, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return m, fmt.Errorf("read memory of process %d: %w", pid, err)
		}
		switch fields[0] {
		case "Rss:":
			m.rss = kibibytes * 1024
		case "Pss:":
			m.pss = kibibytes * 1024
		}
	}
	if m.pss == 0 {
		return m, fmt.Errorf("read memory of process %d: no sums in %q", pid, body)
	}
	return m, nil
}

// tick is the unit in which Linux tells CPU time to programs, on every architecture that Go has.
const tick = 10 * time.Millisecond

// cpuOf is the CPU time, user and system, that a process has used.
func cpuOf(pid int) (time.Duration, error) {
	body, err := os.ReadFile(proc(pid, "stat"))
	if err != nil {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, err)
	}
	// The name, which may hold anything, ends with the last parenthesis; see proc(5).
	fields := strings.Fields(string(body[strings.LastIndexByte(string(body), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("read CPU time of process %d: %q", pid, body)
	}
	user, problem := strconv.ParseInt(fields[11], 10, 64)
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(problem, err); err != nil {
		return 0, fmt.Errorf("read CPU time of process %d: %w", pid, err)
	}
	return time.Duration(user+system) * tick, nil
}

// processesWith finds the processes that have a word in their command lines, by their programs'
// names: a process is listed under the name that it was called by.
func processesWith(word string) map[string][]int {
	found := map[string][]int{}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		body, err := os.ReadFile(line)
		if err != nil || !strings.Contains(string(body), word) {
			continue // it may have ended meanwhile
		}
		name, _, _ := strings.Cut(string(body), "\x00")
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(line)))
		if err == nil {
			found[filepath.Base(name)] = append(found[filepath.Base(name)], pid)
		}
	}
	return found
}

func proc(pid int, name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }
