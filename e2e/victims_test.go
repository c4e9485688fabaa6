package e2e

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/google/uuid"

	"commander/agents/dhctl/phases"
	"commander/store"
)

// victim is a process that has a part in an operation.
type victim string

const (
	theOperation victim = "process of the operation" // of dhctl
	theServer    victim = "dhctl server"
	theManager   victim = "cluster manager"
	theWorker    victim = "worker"
	theEtcd      victim = "etcd of the cluster"
	theAgent     victim = "agent of the cluster"
	theLab       victim = "lab"
)

var victims = []victim{theOperation, theServer, theManager, theWorker, theEtcd, theAgent, theLab}

// livesIn reports whether the victim surely is there at some time of a phase. A deletion takes the
// agent away in AllNodes and everything else in BaseInfra.
func (v victim) livesIn(kind store.TaskKind, phase string) bool {
	switch v {
	case theAgent:
		return kind == store.TaskConverge || slices.Contains([]string{phases.CreateResources, phases.Finalization, phases.DeleteResources}, phase)
	case theEtcd:
		return kind != store.TaskDestroy || phase != phases.BaseInfra
	default:
		return true
	}
}

// silences reports whether nobody can go on with the operation when the victim is gone.
func (v victim) silences() bool { return v == theOperation || v == theServer || v == theManager }

// harmless reports whether the operation does not need the victim at all.
func (v victim) harmless() bool { return v == theWorker || v == theAgent }

// find lists the processes that the victim consists of.
func (c *crew) find(v victim, cluster uuid.UUID) []int {
	below := func(words ...string) []int {
		family := descendants(c.managing.Process.Pid)
		return slices.DeleteFunc(processesWith(words...), func(pid int) bool { return family[pid] == "" })
	}
	switch v {
	case theOperation:
		return below("dhctl", "_server")
	case theServer:
		return below("dhctl", "server", "--listen")
	case theManager:
		return []int{c.managing.Process.Pid}
	case theWorker:
		return []int{c.working.Process.Pid}
	case theEtcd:
		return processesWith(cluster.String(), "--data-dir")
	case theAgent:
		return processesWith("commander-agent", cluster.String())
	default:
		return []int{c.lab.Process.Pid}
	}
}

// replace starts what nobody else starts again.
func (c *crew) replace(v victim) {
	switch v {
	case theManager:
		_ = c.managing.Wait()
		c.managing = c.manager()
	case theWorker:
		_ = c.working.Wait()
		c.working = c.worker()
	case theLab:
		_ = c.lab.Wait()
		c.startLab()
	}
}

// end takes processes away and tells whether there was one: what was found may be gone by itself, and
// its successor is looked for again.
func end(pids []int) (ended bool, err error) {
	for _, pid := range pids {
		switch killed := syscall.Kill(pid, syscall.SIGKILL); {
		case killed == nil:
			ended = true
		case !errors.Is(killed, syscall.ESRCH):
			err = errors.Join(err, fmt.Errorf("kill %d: %w", pid, killed))
		}
	}
	return ended, err
}
