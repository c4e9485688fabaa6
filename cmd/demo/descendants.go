package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of descendants whose own parent ends, so that none of them
// can get away.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become parent of orphans: %w", err)
	}
	return nil
}

// proc is what we need to know of a process.
type proc struct {
	pid, parent int
	zombie      bool
	started     string // ticks since boot; tells processes with the same id apart
	name        string
}

// processes reads all of /proc; what ends meanwhile is left out.
func processes() []proc {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	all := make([]proc, 0, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// See proc(5). The name is in brackets and may hold anything, brackets too.
		open, shut := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		if open < 0 || shut < open {
			continue
		}
		f := strings.Fields(string(text[shut+1:]))
		pid, err := strconv.Atoi(strings.TrimSpace(string(text[:open])))
		if err != nil || len(f) < 20 {
			continue
		}
		parent, err := strconv.Atoi(f[1])
		if err != nil {
			continue
		}
		all = append(all, proc{pid: pid, parent: parent, zombie: f[0] == "Z", started: f[19], name: string(text[open+1 : shut])})
	}
	return all
}

// descendants lists the living processes below one.
func descendants(of int) []proc {
	children := map[int][]proc{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []proc
	for next := children[of]; len(next) > 0; next = next[1:] {
		if !next[0].zombie {
			found = append(found, next[0])
		}
		next = append(next, children[next[0].pid]...)
	}
	return found
}

// endDescendants ends everything below this process: asked to first, by force after the bound.
// Stores are asked last, since what writes to them lingers without them.
func endDescendants(bound time.Duration) {
	stores := func(p proc) bool { return p.name == "etcd" }
	endAll(bound, func(p proc) bool { return !stores(p) })
	endAll(bound, stores)
}

func endAll(bound time.Duration, which func(proc) bool) {
	self := os.Getpid()
	forceAfter := time.NewTimer(bound)
	defer forceAfter.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	asked := map[string]bool{} // a process is asked once; a new one with the same id is asked too
	for {
		left := 0
		for _, p := range descendants(self) {
			if !which(p) {
				continue
			}
			left++
			if key := strconv.Itoa(p.pid) + " " + p.started; !asked[key] {
				asked[key] = true
				_ = syscall.Kill(p.pid, syscall.SIGTERM) // it may be gone meanwhile
			}
		}
		reapAll()
		if left == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-forceAfter.C:
			for _, p := range descendants(self) {
				if which(p) {
					_ = syscall.Kill(p.pid, syscall.SIGKILL)
				}
			}
			forceAfter.Reset(bound) // for children that one of them started just now
		}
	}
}

// reapAll takes leave of all ended children. Only for when no child is waited for elsewhere.
func reapAll() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return
		}
	}
}

// reapEvery is how often ended orphans are looked for. A child of our own is waited for and so is
// never seen ended at two looks, an orphan is.
const reapEvery = 2 * time.Second

// reapOrphans takes leave of ended orphans until the context ends, so that they do not pile up
// while the demo runs for days.
func reapOrphans(ctx context.Context) {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	seen := map[proc]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := map[proc]bool{}
		for _, p := range processes() {
			if p.parent != os.Getpid() || !p.zombie {
				continue
			}
			if seen[p] {
				_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
				continue
			}
			now[p] = true
		}
		seen = now
	}
}
