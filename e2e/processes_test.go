package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// quietLimit is short so that tests of lost tasks need not wait for minutes.
const quietLimit = 8 * time.Second

// descendants lists the processes below one with the times at which they started, which tell a
// process from a later one with the same number.
func descendants(root int) map[int]string {
	parents := map[int]int{}
	for _, pid := range allProcesses() {
		if fields := statOf(pid); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	family := map[int]string{}
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if at == root {
				family[pid] = startOf(pid)
				break
			}
		}
	}
	return family
}

func allProcesses() []int {
	found, _ := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, path := range found {
		if pid, err := strconv.Atoi(filepath.Base(path)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// statOf are the fields of a process after its name: state, parent and so on.
func statOf(pid int) []string {
	body, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(body), ") ")
	return strings.Fields(rest)
}

func startOf(pid int) string {
	if fields := statOf(pid); len(fields) > 19 && fields[0] != "Z" {
		return fields[19]
	}
	return ""
}

func commandOf(pid int) string {
	body, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return strings.ReplaceAll(string(body), "\x00", " ")
}

// processes of the demo whose command line has all the words.
func (d *demo) processes(words ...string) []int {
	family := descendants(d.cmd.Process.Pid)
	return slices.DeleteFunc(processesWith(words...), func(pid int) bool { return family[pid] == "" })
}

// processesWith lists the processes whose command line has all the words.
func processesWith(words ...string) []int {
	var found []int
	for _, pid := range allProcesses() {
		command := commandOf(pid)
		fits := command != ""
		for _, word := range words {
			fits = fits && strings.Contains(command, word)
		}
		if fits {
			found = append(found, pid)
		}
	}
	return found
}

// nothingOf looks for what is left of a cluster: processes, files and sockets.
func nothingOf(id string) func(context.Context) (bool, error) {
	return func(context.Context) (bool, error) {
		if left := shared.processes(id); len(left) > 0 {
			return false, fmt.Errorf("processes %v: %s", left, commandOf(left[0]))
		}
		var files []string
		err := filepath.WalkDir(shared.dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.Contains(entry.Name(), id) {
				files = append(files, path)
			}
			return nil // what vanishes while we look is fine
		})
		if err == nil && len(files) > 0 {
			err = fmt.Errorf("files %v", files)
		}
		return err == nil, err
	}
}
