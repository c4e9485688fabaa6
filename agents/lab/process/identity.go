// Package process keeps local programs running: each in a process group of its own with a log
// file, known again after a restart of the keeper by process id and start time, started again
// when it dies, and stopped for good when it is told so.
package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Identity names one process for as long as the machine exists: the kernel gives a process id
// again to somebody else, but not with the same start time within one boot.
type Identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot, field 22 of /proc/<pid>/stat
	Boot  string `json:"boot"`  // random id of this boot of the kernel
}

var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // the same for all processes, so pid and start time decide alone
	}
	return strings.TrimSpace(string(id))
})

// Identify tells who has a process id now. It fails with fs.ErrNotExist if nobody has, or if its
// holder has ended and only waits to be reaped.
func Identify(pid int) (Identity, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if errors.Is(err, unix.ESRCH) { // it ended between open and read
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, fs.ErrNotExist)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	state, start, err := parseStat(string(stat))
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	if state == "Z" || state == "X" {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, fs.ErrNotExist)
	}
	return Identity{PID: pid, Start: start, Boot: bootID()}, nil
}

// Alive tells whether exactly this process still runs.
func (id Identity) Alive() bool {
	now, err := Identify(id.PID)
	return id.PID > 0 && err == nil && now == id
}

// parseStat reads state and start time. The name of the program is the second field, in
// parentheses, and may hold spaces and parentheses itself: fields count from the last one.
func parseStat(stat string) (state string, start uint64, err error) {
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	const startField = 22 - 3 // the first field behind the name is the third of all
	if end < 0 || len(fields) <= startField {
		return "", 0, fmt.Errorf("read process state %q: too short", stat)
	}
	start, err = strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("read process start time: %w", err)
	}
	return fields[0], start, nil
}
