// Command bench measures what Commander promises and prints the figures as Markdown: each as a
// median beside its spread, and beside a floor or peer that was measured in the same run. It judges
// nothing: figures depend on the machine, and goals are for people to compare with.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"commander/internal/config"
	"commander/internal/run"
)

// options are what can be chosen about a run.
type options struct {
	Only      []string `flag:"only" help:"names of the measurements, separated by commas; empty for all of them"`
	Write     bool     `flag:"write" help:"put the figures into README.md, each between its marks"`
	Samples   int      `flag:"samples" default:"10" help:"how often create and start are repeated"`
	Together  int      `flag:"together" default:"5" help:"clusters that are created at once"`
	Idle      int      `flag:"idle" default:"10" help:"idle clusters whose memory is summed"`
	Rows      int      `flag:"rows" default:"1000" help:"clusters in the list"`
	Many      int      `flag:"many" default:"10000" help:"clusters in the list that is filtered, sorted and paged"`
	Tasks     int      `flag:"tasks" default:"2000" help:"tasks that wait at once for workers that do nothing"`
	Ready     int      `flag:"ready" default:"2000" help:"clusters that are installed by an engine that only takes its time"`
	Checked   int      `flag:"checked" default:"10000" help:"clusters that are only checked"`
	Schedules int      `flag:"schedules" default:"1000000" help:"seeds of the simulation of the task machine"`
	Merges    int      `flag:"merges" default:"1000000" help:"upgrades of made-up clusters that are compared with an oracle"`
	Machines  int      `flag:"machines" default:"500" help:"machines on the emulator of DVP that are made and removed"`
	Races     int      `flag:"races" default:"10000" help:"races of two nodes for a disk"`
	Traces    int      `flag:"traces" default:"10000" help:"lives of a Node under faults"`
	Keys      int      `flag:"keys" default:"200" help:"keys that are typed in the browser"`
	Requests  int      `flag:"requests" default:"500" help:"requests for the list in each round"`

	Steady time.Duration `flag:"steady" default:"5m" help:"how long clusters are only checked"`
	Settle time.Duration `flag:"settle" default:"30s" help:"pause between the last cluster's being ready and the look at memory"`
	Bin    string        `flag:"bin" default:"../bin" help:"folder of our programs"`
	Cache  string        `flag:"cache" default:"../.cache" help:"folder of the programs that are not ours"`
	Readme string        `flag:"readme" default:"README.md" help:"file that --write changes"`
}

// Validate refuses counts that would measure nothing.
func (o *options) Validate() error {
	var problems []error
	for name, count := range map[string]int{"samples": o.Samples, "together": o.Together, "idle": o.Idle, "rows": o.Rows, "many": o.Many, "merges": o.Merges, "machines": o.Machines, "races": o.Races, "traces": o.Traces, "keys": o.Keys, "tasks": o.Tasks, "ready": o.Ready, "checked": o.Checked, "schedules": o.Schedules, "requests": o.Requests} {
		if count < 1 {
			problems = append(problems, fmt.Errorf("--%s must be 1 at least", name))
		}
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(measurements, func(m measurement) bool { return m.name == name }) {
			problems = append(problems, fmt.Errorf("there is no measurement %q; there are %s", name, strings.Join(names(), ", ")))
		}
	}
	return errors.Join(problems...)
}

// measurement is one question and how it is answered.
type measurement struct {
	name string
	uses []string // flags that it depends on
	run  func(*bench, context.Context) ([]figure, error)
}

// Those that need a process of Commander's alone come first, so that no lab disturbs them.
var measurements = []measurement{
	{"start", []string{"samples"}, (*bench).start},
	{"page", []string{"rows", "requests"}, (*bench).page},
	{"render", []string{"samples"}, (*bench).render},
	{"merges", []string{"merges"}, (*bench).merges},
	{"schedules", []string{"schedules"}, (*bench).schedules},
	{"queue", []string{"tasks", "requests"}, (*bench).queue},
	{"ready", []string{"ready"}, (*bench).ready},
	{"steady", []string{"checked"}, (*bench).steady},
	{"lists", []string{"many", "requests"}, (*bench).lists},
	{"keys", []string{"many", "keys"}, (*bench).keys},
	{"editor", []string{"keys"}, (*bench).editor},
	{"create", []string{"samples"}, (*bench).create},
	{"together", []string{"together"}, (*bench).together},
	{"idle", []string{"idle"}, (*bench).idle},
	{"machines", []string{"machines"}, (*bench).machines},
	{"races", []string{"races"}, (*bench).races},
	{"traces", []string{"traces"}, (*bench).traces},
	{"programs", nil, (*bench).programs},
}

func names() []string {
	var out []string
	for _, m := range measurements {
		out = append(out, m.name)
	}
	return out
}

func main() { run.Main("bench", start) }

func start(ctx context.Context, args []string) error {
	var o options
	rest, err := config.Load("BENCH_", args, &o)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return run.Misuse(fmt.Errorf("unknown argument %q", rest[0]))
	}
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(b.all(ctx), b.close())
}

// all takes the chosen measurements one after the other.
func (b *bench) all(ctx context.Context) error {
	machine := describeMachine()
	fmt.Println(machine)
	for _, m := range measurements {
		if len(b.Only) > 0 && !slices.Contains(b.Only, m.name) {
			continue
		}
		say("%s …", m.name)
		quiet := describeLoad()
		figures, err := m.run(b, ctx)
		if err != nil {
			return fmt.Errorf("measure %s: %w", m.name, err)
		}
		text := fmt.Sprintf("`go run . --only %s`, %s\n\n%s", b.arguments(m), quiet, table(figures))
		fmt.Printf("\n## %s\n\n%s", m.name, text)
		if b.Write {
			if err := writeBetween(b.Readme, map[string]string{"machine": machine, m.name: text}); err != nil {
				return err
			}
		}
	}
	return nil
}

// arguments are those that repeat a measurement: its name, and what differs from the defaults.
func (b *bench) arguments(m measurement) string {
	out := m.name
	for _, count := range []struct {
		flag        string
		is, usually int
	}{{"samples", b.Samples, 10}, {"together", b.Together, 5}, {"idle", b.Idle, 10}, {"rows", b.Rows, 1000}, {"many", b.Many, 10000}, {"merges", b.Merges, 1_000_000}, {"tasks", b.Tasks, 2000}, {"ready", b.Ready, 2000}, {"checked", b.Checked, 10_000}, {"schedules", b.Schedules, 1_000_000}, {"machines", b.Machines, 500}, {"races", b.Races, 10_000}, {"traces", b.Traces, 10_000}, {"requests", b.Requests, 500}} {
		if count.is != count.usually && slices.Contains(m.uses, count.flag) {
			out += fmt.Sprintf(" --%s %d", count.flag, count.is)
		}
	}
	return out
}

// say tells a waiting person how far it is, apart from the figures.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "  "+format+"\n", args...) }
