package runner_test

import (
	"log/slog"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/v1alpha2"
	"commander/agents/node/bashible/bundles"
	"commander/agents/node/bashible/input"
	"commander/agents/node/bashible/render"
)

// bootstrapScript is the real one for a group of a type.
func bootstrapScript(t *testing.T, group, kind string) string {
	t.Helper()
	digests := map[string]any{}
	for _, name := range []string{"bashible", "containerd", "runc", "kubernetesCni", "kubelet137"} {
		digests[name] = "sha256:" + strings.Repeat("0", 64)
	}
	all, err := render.All(render.Input{
		Cluster: input.Cluster{KubernetesVersion: "1.37", CA: "x", APIServerEndpoints: []string{"x:6443"}, NodeGroups: []input.Group{
			{"name": group, "nodeType": kind, "kubernetesVersion": "1.37", "cri": map[string]any{"type": "Containerd"}},
		}},
		Registry: map[string]any{"address": "r", "path": "/p"},
		Images:   map[string]any{"common": map[string]any{"pause": "x"}, "registrypackages": digests},
	}, bundles.Files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	// The machines of these tests know their API server already.
	return strings.ReplaceAll(all.Groups[group].Bootstrap, "export BASHIBLE_API_SERVERS=", "# ")
}

func TestBootstrapScript(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind            string
		instance, tells bool
	}{
		"permanent":            {"CloudPermanent", true, false},
		"ephemeral":            {"CloudEphemeral", true, true},
		"ephemeral-unexpected": {"CloudEphemeral", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, name)
			instance := &v1alpha2.Instance{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if c.instance {
				m.must(m.client.Create(t.Context(), instance))
			}
			m.publish("one", map[string]string{"010_count.sh": count})
			m.put("bootstrap.sh", bootstrapScript(t, name, c.kind))
			wait, kill := m.start("/bin/bash", m.path("bootstrap.sh"))
			t.Cleanup(kill)
			o := wait()
			if o.code != 0 || m.count() != 1 || m.node().Annotations[api.AnnotationChecksum] != "one" {
				t.Fatalf("ended with %d, steps ran %d times:\n%s", o.code, m.count(), o.said)
			}
			if failures := strings.Count(o.said, "404"); !c.instance && (failures != 3 || !strings.Contains(o.said, "could not be announced")) {
				t.Errorf("tried %d times to tell, want 3:\n%s", failures, o.said)
			}
			if !c.instance {
				return
			}
			m.must(m.client.Get(t.Context(), client.ObjectKeyFromObject(instance), instance))
			if told := instance.Status.BootstrapStatus; (told != nil) != c.tells || told != nil && !strings.HasSuffix(told.LogsEndpoint, ":8000") {
				t.Errorf("got %+v, want it told %t", told, c.tells)
			}
		})
	}
}
