package commander

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"commander/agents/agentapi"
)

func TestReadManifests(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		objects    []string
		failures   []string
	}{
		{"nothing", "", nil, nil},
		{"comments and empty documents", "# nothing\n---\n---\n# here\n", nil, nil},
		{"two documents", "{apiVersion: v1, kind: A, metadata: {name: a}}\n---\n{apiVersion: v1, kind: B, metadata: {name: b}}\n", []string{"A/a", "B/b"}, nil},
		{"a list", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: A, metadata: {}}\n", []string{"A/a"}, []string{`document 1: apiVersion "v1", kind "A" and metadata.name ""`}},
		{"one broken of three", "{apiVersion: v1, kind: A, metadata: {name: a}}\n---\nx: [\n---\n{apiVersion: v1, kind: B, metadata: {name: b}}\n", []string{"A/a", "B/b"}, []string{"document 2"}},
		{"a key given twice", "apiVersion: v1\nkind: A\nkind: B\nmetadata: {name: a}\n", nil, []string{"document 1"}},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}\n", nil, []string{"document 1"}},
		{"a scalar", "just text\n", nil, []string{"document 1"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			objects, errs := readManifests(c.text)
			var got []string
			for _, o := range objects {
				got = append(got, o.GetKind()+"/"+o.GetName())
			}
			if diff := cmp.Diff(c.objects, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if len(errs) != len(c.failures) {
				t.Fatalf("got failures %v, want %v", errs, c.failures)
			}
			for i, want := range c.failures {
				if !strings.Contains(errs[i].Error(), want) {
					t.Errorf("got failure %v, want %q in it", errs[i], want)
				}
			}
		})
	}
}

func TestOrderOfApplying(t *testing.T) {
	t.Parallel()
	object := func(version, kind string) string {
		return "---\napiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: x}\n"
	}
	wanted, failed, _ := readGroups([]agentapi.ResourceGroup{
		{Name: "one", Manifests: object("v1", "ConfigMap") + object("apiextensions.k8s.io/v1", "CustomResourceDefinition")},
		{Name: "two", Manifests: object("v1", "Secret") + object("v1", "Namespace")},
	})
	var got []string
	for _, w := range wanted {
		got = append(got, w.object.GetKind())
	}
	if diff := cmp.Diff([]string{"Namespace", "CustomResourceDefinition", "ConfigMap", "Secret"}, got); diff != "" || len(failed) > 0 {
		t.Errorf("order (-want +got):\n%s; failures %v", diff, failed)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	var nodes nodeList
	err := json.Unmarshal([]byte(`{"items":[
		{"metadata":{"name":"w-0","labels":{"node.deckhouse.io/group":"worker"},"creationTimestamp":"2026-01-02T03:04:05Z"},
		 "status":{"capacity":{"cpu":"1500m","memory":"1048576Ki","ephemeral-storage":"10Gi"},"conditions":[{"type":"Ready","status":"Unknown"}]}},
		{"metadata":{"name":"m-0","labels":{"node-role.kubernetes.io/master":"","node-role.kubernetes.io/control-plane":""},"creationTimestamp":null},
		 "status":{"capacity":{"cpu":"2","memory":"4Gi"},"nodeInfo":{"kubeletVersion":"v1.37.2"},
		  "conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"}]}}]}`), &nodes)
	if err != nil {
		t.Fatal(err)
	}
	var claims claimList
	err = json.Unmarshal([]byte(`{"items":[{"status":{"phase":"Bound","capacity":{"storage":"512Mi"}}},
		{"status":{"phase":"Pending","capacity":{"storage":"8Gi"}}}]}`), &claims)
	if err != nil {
		t.Fatal(err)
	}
	got, totals := summarize(nodes, claims)
	want := []agentapi.Node{
		{Name: "m-0", Ready: true, Roles: []string{"control-plane", "master"}, Version: "v1.37.2", CPUCores: 2, MemoryGiB: 4},
		{Name: "w-0", NodeGroup: "worker", CPUCores: 1.5, MemoryGiB: 1, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if want := (agentapi.Totals{CPUCores: 3.5, MemoryGiB: 5, RootDiskGiB: 10, PVCGiB: 0.5, Nodes: 2}); totals != want {
		t.Errorf("totals: got %+v, want %+v", totals, want)
	}
}

func TestPauseGrowsWithinBounds(t *testing.T) {
	t.Parallel()
	p := pause{first: time.Second, most: 5 * time.Second}
	for i, whole := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
		if got := p.grow(); got < whole/2 || got > whole {
			t.Errorf("pause %d: got %s, want between %s and %s", i, got, whole/2, whole)
		}
	}
	p.reset()
	if got := p.grow(); got > time.Second {
		t.Errorf("after reset: got %s, want at most a second", got)
	}
}
