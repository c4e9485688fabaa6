package earlyoom

import (
	"testing"
	"time"
)

const gib = 1 << 30

var (
	rules = Rules{Threshold: 30, Available: 0.1, Pause: 15 * time.Second}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// pressed is a node of 100 GiB that is short of memory, with one pod that may be ended.
func pressed() Sample {
	return Sample{
		Node: Pressure{Avg10: 60}, Total: 100 * gib, Available: 2 * gib, Outside: 50,
		Pods: []Pod{{Namespace: "shop", Name: "web", Usage: 20 * gib, Request: 10 * gib, Stall: 60}},
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*Sample)
		want   Verdict
	}{
		{"short of memory", func(*Sample) {}, Act},
		{"exactly the threshold", func(s *Sample) { s.Node.Avg10 = 30 }, Calm},
		{"just above the threshold", func(s *Sample) { s.Node.Avg10 = 30.01 }, Act},
		{"memory left", func(s *Sample) { s.Available = 11 * gib }, Contained},
		{"all stalls are of a pod at its limit", func(s *Sample) { s.Outside, s.Pods[0].Confined = 0, true }, Contained},
		{"a pod at its limit, but others stall too", func(s *Sample) { s.Pods[0].Confined = true }, Act},
		{"a pod below its limit stalls", func(s *Sample) { s.Outside = 0 }, Act},
		{"nobody's stall can be measured", func(s *Sample) { s.Outside, s.Pods[0].Stall = -1, -1 }, Act},
		{"only a static pod", func(s *Sample) { s.Pods[0].Static = true }, Helpless},
		{"only a critical pod", func(s *Sample) { s.Pods[0].Priority = 2_000_000_000 }, Helpless},
		{"only a small pod", func(s *Sample) { s.Pods[0].Usage = gib / 2 }, Helpless},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sample := pressed()
			test.change(&sample)
			if _, got, _ := Decide(rules, State{}, sample, start); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// One victim for one time of pressure, however long it lasts; and a pause after it.
func TestOneVictimUntilPressureFalls(t *testing.T) {
	t.Parallel()
	var state State
	for i, step := range []struct {
		after time.Duration
		avg10 float64
		want  Verdict
	}{
		{0, 60, Act},
		{5 * time.Second, 60, Cooling},
		{time.Hour, 60, Cooling},
		{time.Hour, 20, Calm}, // below the threshold, but not yet by half
		{time.Hour, 60, Cooling},
		{time.Hour, 15, Calm},
		{time.Hour, 60, Act},
	} {
		sample := pressed()
		sample.Node.Avg10 = step.avg10
		var got Verdict
		if state, got, _ = Decide(rules, state, sample, start.Add(step.after)); got != step.want {
			t.Fatalf("step %d: got %s, want %s", i, got, step.want)
		}
	}
	sample := pressed()
	sample.Node.Avg10 = 0
	at := state.Last.Add(14 * time.Second)
	if state, _, _ = Decide(rules, state, sample, at); !state.Cooling {
		t.Error("ready again 14 seconds after a victim, want a pause of 15")
	}
}

func TestVictim(t *testing.T) {
	t.Parallel()
	pod := func(namespace, name string, priority int32, usage, request uint64) Pod {
		return Pod{Namespace: namespace, Name: name, Priority: priority, Usage: usage * gib, Request: request * gib}
	}
	for _, test := range []struct {
		name string
		pods []Pod
		want string
	}{
		{"ordinary before system", []Pod{pod("kube-system", "dns", 0, 30, 1), pod("d8-monitoring", "prom", 0, 40, 1), pod("shop", "web", 1000, 5, 8)}, "web"},
		{"system if there is nobody else", []Pod{pod("kube-system", "dns", 0, 30, 1)}, "dns"},
		{"above its request before below", []Pod{pod("shop", "modest", -10, 30, 31), pod("shop", "greedy", 100, 5, 4)}, "greedy"},
		{"lower priority first", []Pod{pod("shop", "high", 100, 40, 1), pod("shop", "low", 1, 10, 1)}, "low"},
		{"larger excess first", []Pod{pod("shop", "a", 0, 40, 38), pod("shop", "b", 0, 10, 1)}, "b"},
		{"by name at last", []Pod{pod("shop", "b", 0, 10, 1), pod("shop", "a", 0, 10, 1)}, "a"},
	} {
		if got, _ := Victim(Sample{Total: 100 * gib, Pods: test.pods}); got.Name != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got.Name, test.want)
		}
	}
}
