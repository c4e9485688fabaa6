package approval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
)

// node parses "name ready waiting …": flags and annotations by their last word, key=value for
// one with a value.
func node(text string) corev1.Node {
	words := strings.Fields(text)
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: words[0], Annotations: map[string]string{}}}
	status := corev1.ConditionTrue
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "broken":
			status = corev1.ConditionFalse
		case "cordoned":
			n.Spec.Unschedulable = true
		case "sum":
			n.Annotations[api.AnnotationChecksum] = value
		case "waiting":
			n.Annotations[api.UpdateWaiting] = ""
		case "required":
			n.Annotations[api.UpdateDisruptionRequired] = ""
		case "allowed":
			n.Annotations[api.UpdateDisruptionApproved] = ""
		default: // approved, draining, drained, rolling-update
			n.Annotations[api.UpdatePrefix+key] = value
		}
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	return n
}

// told writes steps as "node event", with a + for the uncordoned.
func told(steps []Step) string {
	var all []string
	for _, s := range steps {
		all = append(all, fmt.Sprintf("%s %s%s", s.Node.Name, s.Event, map[bool]string{true: "+"}[s.Uncordon]))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func most(text string) func(*v1.NodeGroup) {
	return func(g *v1.NodeGroup) {
		n := intstr.Parse(text)
		g.Spec.Update = &v1.Update{MaxConcurrent: &n}
	}
}

func mode(m v1.ApprovalMode) func(*v1.NodeGroup) {
	return func(g *v1.NodeGroup) { g.Spec.Disruptions = &v1.Disruptions{ApprovalMode: m} }
}

func automatic(a v1.AutomaticDisruption) func(*v1.NodeGroup) {
	return func(g *v1.NodeGroup) {
		g.Spec.Disruptions = &v1.Disruptions{ApprovalMode: v1.ApproveAutomatic, Automatic: &a}
	}
}

func named(name string) func(*v1.NodeGroup) { return func(g *v1.NodeGroup) { g.Name = name } }

func TestPlan(t *testing.T) {
	t.Parallel()
	no := false
	night := v1.AutomaticDisruption{Windows: []v1.Window{{From: "22:00", To: "04:00"}}}
	for _, test := range []struct {
		name   string
		nodes  []string
		want   string
		change []func(*v1.NodeGroup)
	}{
		{"one at a time", []string{"a waiting", "b waiting"}, "a NodeApproved", nil},
		{"the second waits for the first", []string{"a approved", "b waiting"}, "", nil},
		{"two at a time", []string{"a waiting", "b waiting", "c waiting"}, "a NodeApproved, b NodeApproved", []func(*v1.NodeGroup){most("2")}},
		{"a broken one gets its fix", []string{"a", "b broken waiting"}, "b NodeApproved", nil},
		{"nobody else while one is broken", []string{"a waiting", "b broken"}, "", nil},
		{"the broken one first", []string{"a waiting", "b broken waiting"}, "b NodeApproved", []func(*v1.NodeGroup){most("2")}},
		{"done", []string{"a approved sum=new", "b waiting"}, "a NodeUpToDate", nil},
		{"done but not ready", []string{"a approved sum=new broken"}, "", nil},
		{"not done", []string{"a approved sum=old"}, "", nil},
		{"no checksum on the node", []string{"a approved"}, "", nil},
		{"done and drained", []string{"a approved sum=new drained=bashible cordoned"}, "a NodeUpToDate+", nil},
		{"drained later than done", []string{"a sum=new drained=bashible cordoned"}, "a NodeUpToDate+", nil},
		{"drained by a person", []string{"a sum=new drained=user cordoned"}, "", nil},
		{"done, cordoned by a person", []string{"a approved sum=new cordoned"}, "a NodeUpToDate", nil},
		{"drain first", []string{"a approved required"}, "a DrainingForDisruption", nil},
		{"while it drains", []string{"a approved required draining=bashible cordoned"}, "", nil},
		{"drained", []string{"a approved required drained=bashible cordoned"}, "a DisruptionApproved", nil},
		{"a drain of a person does not count", []string{"a approved required drained=user"}, "a DrainingForDisruption", nil},
		{"a drain of a person does not hold", []string{"a approved required draining=user"}, "a DrainingForDisruption", nil},
		{"not approved at all", []string{"a required"}, "", nil},
		{"allowed already", []string{"a approved required allowed"}, "", nil},
		{"without drain", []string{"a approved required"}, "a DisruptionApproved", []func(*v1.NodeGroup){automatic(v1.AutomaticDisruption{DrainBeforeApproval: &no})}},
		{"by hand", []string{"a approved required"}, "", []func(*v1.NodeGroup){mode(v1.ApproveManual)}},
		{"out of hours", []string{"a approved required"}, "", []func(*v1.NodeGroup){automatic(night)}},
		{"only master", []string{"a approved required"}, "a DisruptionApproved", []func(*v1.NodeGroup){named("master")}},
		{"one of several masters", []string{"a approved required", "b", "c"}, "a DrainingForDisruption", []func(*v1.NodeGroup){named("master")}},
		{"controllers have nowhere to go", []string{"host approved required", "b broken"}, "host DisruptionApproved", nil},
		{"controllers can go elsewhere", []string{"host approved required", "b"}, "host DrainingForDisruption", nil},
		{"replace", []string{"a approved rolling-update"}, "a RollingUpdate", []func(*v1.NodeGroup){mode(v1.ApproveRollingUpdate)}},
	} {
		v := View{Group: &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}, Checksum: "new", Deckhouse: "host", Now: at("12:00")}
		for _, change := range test.change {
			change(v.Group)
		}
		for _, text := range test.nodes {
			v.Nodes = append(v.Nodes, node(text))
		}
		if got := told(Plan(v)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	unknown := View{Group: &v1.NodeGroup{}, Nodes: []corev1.Node{node("a approved sum=")}}
	if got := told(Plan(unknown)); got != "" {
		t.Errorf("without checksums: got %q, want nothing", got)
	}
}

func at(clock string) time.Time {
	day, err := time.Parse("2006-01-02 15:04", "2026-03-02 "+clock) // a Monday
	if err != nil {
		panic(err)
	}
	return day
}

func TestWindows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		window v1.Window
		now    string
		want   bool
	}{
		{v1.Window{From: "22:00", To: "04:00"}, "23:00", true},
		{v1.Window{From: "22:00", To: "04:00"}, "03:00", true},
		{v1.Window{From: "22:00", To: "04:00"}, "12:00", false},
		{v1.Window{From: "8:00", To: "10:00"}, "08:00", true},
		{v1.Window{From: "8:00", To: "10:00"}, "10:00", true},
		{v1.Window{From: "8:00", To: "10:00"}, "10:01", false},
		{v1.Window{From: "8:00", To: "10:00", Days: []v1.Day{"Sun"}}, "09:00", false},
		{v1.Window{From: "8:00", To: "10:00", Days: []v1.Day{"Sun", "Mon"}}, "09:00", true},
		{v1.Window{From: "nonsense", To: "10:00"}, "09:00", false},
	} {
		if got := open([]v1.Window{test.window}, at(test.now)); got != test.want {
			t.Errorf("%+v at %s: got %t, want %t", test.window, test.now, got, test.want)
		}
	}
	elsewhere := at("23:00").In(time.FixedZone("east", 5*3600))
	if !open([]v1.Window{{From: "22:30", To: "23:30"}}, elsewhere) {
		t.Error("windows are not in UTC")
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		nodes int
		want  int
	}{{"1", 9, 1}, {"25%", 3, 1}, {"25%", 8, 2}, {"100%", 3, 3}, {"0", 3, 1}} {
		group := &v1.NodeGroup{}
		most(test.text)(group)
		if got := Limit(group, test.nodes); got != test.want {
			t.Errorf("%s of %d: got %d, want %d", test.text, test.nodes, got, test.want)
		}
	}
	if got := Limit(&v1.NodeGroup{}, 9); got != 1 {
		t.Errorf("by default: got %d, want 1", got)
	}
}
