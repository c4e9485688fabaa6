package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"commander/agents/dhctl/phases"
	"commander/store"
)

// A kill takes somebody away, with no time to say a word, while an operation is in a phase.
type kill struct {
	phase  string
	victim victim
}

// life is that of one cluster, with a kill in each of its operations.
type life struct{ install, change, remove kill }

func (l life) String() string {
	return strings.Join([]string{
		fmt.Sprintf("%s in %s", l.install.victim, l.install.phase),
		fmt.Sprintf("%s in %s", l.change.victim, l.change.phase),
		fmt.Sprintf("%s in %s", l.remove.victim, l.remove.phase),
	}, ", ")
}

// The phases that a cluster of the lab has. The change is an upgrade with one worker more, so that
// each phase has something to do.
var (
	installPhases = []string{phases.BaseInfra, phases.InstallDeckhouse, phases.InstallAdditionalMastersAndStaticNodes, phases.CreateResources, phases.Finalization}
	changePhases  = []string{phases.Check, phases.BaseInfra, phases.AllNodes, phases.DeckhouseConfiguration}
	removePhases  = []string{phases.DeleteResources, phases.AllNodes, phases.BaseInfra}
)

var phasesOf = map[store.TaskKind][]string{store.TaskBootstrap: installPhases, store.TaskConverge: changePhases, store.TaskDestroy: removePhases}

// after is the phase that follows one, empty after the last.
func after(kind store.TaskKind, phase string) string {
	all := append(slices.Clone(phasesOf[kind]), "")
	return all[slices.Index(all, phase)+1]
}

// critical are the phases that nobody may interrupt without looking.
var critical = map[store.TaskKind][]string{
	store.TaskConverge: {phases.BaseInfra},
	store.TaskDestroy:  {phases.AllNodes, phases.BaseInfra},
}

// cover has each phase and each victim at least once.
var cover = []life{
	{kill{phases.BaseInfra, theOperation}, kill{phases.Check, theManager}, kill{phases.DeleteResources, theEtcd}},
	{kill{phases.InstallDeckhouse, theManager}, kill{phases.BaseInfra, theServer}, kill{phases.AllNodes, theOperation}},
	{kill{phases.InstallAdditionalMastersAndStaticNodes, theEtcd}, kill{phases.AllNodes, theOperation}, kill{phases.BaseInfra, theManager}},
	{kill{phases.CreateResources, theServer}, kill{phases.DeckhouseConfiguration, theAgent}, kill{phases.BaseInfra, theLab}},
	{kill{phases.Finalization, theWorker}, kill{phases.BaseInfra, theEtcd}, kill{phases.DeleteResources, theAgent}},
}

// product has every phase with every victim that lives in it.
func product() []life {
	var all []life
	for _, v := range victims {
		for i := range installPhases {
			at := func(kind store.TaskKind, of []string) kill {
				there := slices.DeleteFunc(slices.Clone(of), func(phase string) bool { return !v.livesIn(kind, phase) })
				return kill{there[i%len(there)], v}
			}
			all = append(all, life{at(store.TaskBootstrap, installPhases), at(store.TaskConverge, changePhases), at(store.TaskDestroy, removePhases)})
		}
	}
	return all
}

// killAll is the variable that asks for every combination instead of a cover of them.
const killAll = "E2E_KILL_ALL"

// TestKillsInEveryPhase takes away, with SIGKILL, each process that has a part in an operation, in
// each phase of an installation, a change and a deletion. The operation then ends in one of the ways
// that the tables of states allow for, and after at most one retry by a person it reaches its goal:
// ready with the same machines, changed, or archived with nothing left.
func TestKillsInEveryPhase(t *testing.T) {
	t.Parallel()
	lives, together := cover, len(cover)
	if os.Getenv(killAll) != "" {
		lives, together = product(), 4
	}
	places := make(chan struct{}, together)
	var all sync.WaitGroup
	for i, l := range lives {
		// Not t.Parallel: a life is mostly waiting for a task to count as lost.
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			t.Run(l.String(), func(t *testing.T) { newCrew(t).live(fmt.Sprintf("life-%d", i), l) })
		})
	}
	all.Wait()
}

// TestTheCoverHasEachPhaseAndEachVictim keeps the cover honest.
func TestTheCoverHasEachPhaseAndEachVictim(t *testing.T) {
	t.Parallel()
	killed := map[victim]bool{}
	at := map[string]bool{}
	for _, l := range cover {
		for kind, k := range map[store.TaskKind]kill{store.TaskBootstrap: l.install, store.TaskConverge: l.change, store.TaskDestroy: l.remove} {
			killed[k.victim], at[string(kind)+k.phase] = true, true
			if !k.victim.livesIn(kind, k.phase) {
				t.Errorf("there is no %s in %s of a %s", k.victim, k.phase, kind)
			}
		}
	}
	for _, v := range victims {
		if !killed[v] {
			t.Errorf("nobody kills the %s", v)
		}
	}
	for kind, of := range phasesOf {
		for _, phase := range of {
			if !at[string(kind)+phase] {
				t.Errorf("nobody is killed in %s of a %s", phase, kind)
			}
		}
	}
}
