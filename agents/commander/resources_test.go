package commander_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"commander/agents/agentapi"
)

func containsToken(p []byte) bool { return bytes.Contains(p, []byte(token)) }

func (c cluster) configMap(name, value string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {key: %q}\n", name, c.namespace, value)
}

func (c cluster) read(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	m, err := c.client.CoreV1().ConfigMaps(c.namespace).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func group(name string, controlled bool, manifests ...string) agentapi.ResourceGroup {
	return agentapi.ResourceGroup{Name: name, Controlled: controlled, Manifests: strings.Join(manifests, "")}
}

const widgets = `---
apiVersion: lab.test/v1
kind: Widget
metadata: {name: %[1]s, namespace: %[1]s}
spec: {size: 3}
---
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.lab.test}
spec:
  group: lab.test
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func TestNamespaceDefinitionAndObjectInOneSet(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	name := c.namespace + "-w"
	f.want("e1", group("widgets", true, fmt.Sprintf(widgets, name)))
	c.run(t, f)
	r := f.awaitApplied(t, "e1")
	if !r.Configured("e1") || len(r.Objects) != 3 {
		t.Fatalf("first report: got %+v, want three applied objects", r.Objects)
	}
	for _, o := range r.Objects {
		if o.State != agentapi.ObjectApplied {
			t.Errorf("got %+v, want it applied", o)
		}
	}
	last := r.Objects[2]
	want := agentapi.ObjectResult{
		ResourceGroup: "widgets", Group: "lab.test", Version: "v1", Kind: "Widget", Namespace: name, Name: name, State: agentapi.ObjectApplied,
	}
	if last != want {
		t.Errorf("got %+v, want %+v", last, want)
	}
	if !strings.HasPrefix(r.KubernetesVersion, "v1.") || r.Totals == nil || r.AgentVersion != "test" {
		t.Errorf("report: got version %q, totals %v, agent %q", r.KubernetesVersion, r.Totals, r.AgentVersion)
	}
	objects, err := dynamic.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupVersionResource{Group: "lab.test", Version: "v1", Resource: "widgets"}
	if _, err := objects.Resource(kind).Namespace(name).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Errorf("read widget: %v", err)
	}
}

func TestControlledObjectsAreKept(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	f.want("e1", group("base", true, c.configMap("deleted", "a"), c.configMap("edited", "a")))
	c.run(t, f)
	f.awaitApplied(t, "e1")
	maps := c.client.CoreV1().ConfigMaps(c.namespace)
	if err := maps.Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	edited := c.read(t, "edited")
	edited.Data["key"] = "b"
	if _, err := maps.Update(t.Context(), edited, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	wait(t, "new object", func() bool { return c.read(t, "deleted") != nil })
	wait(t, "old value", func() bool { return c.read(t, "edited").Data["key"] == "a" })
}

func TestUntouchedObjectsAreNotWritten(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	var writes atomic.Int32
	c.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps/quiet") {
				writes.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	f.want("e1", group("base", true, c.configMap("quiet", "a"), c.configMap("watched", "a")))
	c.run(t, f)
	f.awaitApplied(t, "e1")
	for range 2 { // two rounds of undoing drift go by
		if err := c.client.CoreV1().ConfigMaps(c.namespace).Delete(t.Context(), "watched", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		wait(t, "object again", func() bool { return c.read(t, "watched") != nil })
	}
	if got := writes.Load(); got != 1 {
		t.Errorf("the untouched object was written %d times, want once", got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRemovedObjectsAreDeletedAlsoAfterRestart(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	f.want("e1", group("base", true, c.configMap("one", "a"), c.configMap("two", "a"), c.configMap("three", "a")))
	stop := c.run(t, f)
	f.awaitApplied(t, "e1")
	f.want("e2", group("base", true, c.configMap("one", "a"), c.configMap("two", "a")))
	f.awaitApplied(t, "e2")
	if c.read(t, "three") != nil {
		t.Error("three is still there")
	}
	stop()
	// Somebody takes over object one meanwhile, by removing the marks.
	one := c.read(t, "one")
	one.Labels = nil
	if _, err := c.client.CoreV1().ConfigMaps(c.namespace).Update(t.Context(), one, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Without its last configuration the new agent cannot put the marks back before it hears of e3.
	if err := c.client.CoreV1().Secrets(c.home).Delete(t.Context(), "last-configuration", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("e3")
	c.run(t, f)
	f.awaitApplied(t, "e3")
	if c.read(t, "two") != nil {
		t.Error("two is still there")
	}
	if c.read(t, "one") == nil {
		t.Error("an object without the agent's marks was deleted")
	}
}

func TestUncontrolledObjectsAreLeftAlone(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	f.want("e1", group("once", false, c.configMap("mine", "a")))
	c.run(t, f)
	r := f.awaitApplied(t, "e1")
	if len(r.Objects) != 1 || r.Objects[0].State != agentapi.ObjectPresent {
		t.Fatalf("got %+v, want the object present", r.Objects)
	}
	edited := c.read(t, "mine")
	edited.Data["key"] = "b"
	if _, err := c.client.CoreV1().ConfigMaps(c.namespace).Update(t.Context(), edited, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("e2", group("once", false, c.configMap("mine", "c")), group("fresh", true, c.configMap("fresh", "a")))
	f.awaitApplied(t, "e2")
	if got := c.read(t, "mine").Data["key"]; got != "b" {
		t.Errorf("value: got %q, want the edited one", got)
	}
	f.want("e3", group("fresh", true, c.configMap("fresh", "a")))
	r = f.awaitApplied(t, "e3")
	if len(r.Objects) != 2 || r.Objects[1].State != agentapi.ObjectOrphan || !r.Configured("e3") {
		t.Errorf("got %+v, want an orphan and a configured cluster", r.Objects)
	}
	if orphan := c.read(t, "mine"); orphan == nil || orphan.Labels[agentapi.OrphanLabel] == "" {
		t.Errorf("got %v, want the object kept with the label", orphan)
	}
	f.want("e4", group("once", false, c.configMap("mine", "d")))
	f.awaitApplied(t, "e4")
	if again := c.read(t, "mine"); again == nil || again.Labels[agentapi.OrphanLabel] != "" || again.Data["key"] != "b" {
		t.Errorf("got %v, want the object without the label and as edited", again)
	}
	if c.read(t, "fresh") != nil {
		t.Error("the object of the controlled group is still there")
	}
}

func TestFailuresAreReportedAndHarmNothingElse(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	f.want("e1", group("base", true, c.configMap("kept", "a"), c.configMap("other", "a")))
	c.run(t, f)
	f.awaitApplied(t, "e1")
	f.want("e2",
		group("base", true, "a: [broken\n", c.configMap("other", "b")),
		group("strange", true, "apiVersion: no.such/v1\nkind: Thing\nmetadata: {name: x}\n"),
		group("twice", true, c.configMap("other", "c")),
		group("not a label", true, c.configMap("unread", "a")),
	)
	r := f.awaitApplied(t, "e2")
	failed := map[string]string{}
	for _, o := range r.Objects {
		if o.State == agentapi.ObjectFailed {
			failed[o.ResourceGroup] = o.Error
		}
	}
	for name, want := range map[string]string{
		"base": "document 1", "strange": "does not know this kind", "twice": `also in resource group "base"`, "not a label": "label value",
	} {
		if !strings.Contains(failed[name], want) {
			t.Errorf("group %s: got error %q, want %q in it", name, failed[name], want)
		}
	}
	if r.Configured("e2") {
		t.Error("a cluster with failures counts as configured")
	}
	if c.read(t, "kept") == nil {
		t.Error("an object was deleted although its group could not be read")
	}
	if got := c.read(t, "other").Data["key"]; got != "b" {
		t.Errorf("healthy object of a broken group: got %q, want b", got)
	}
}

func TestLastConfigurationStaysInForce(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	f.want("e1", group("base", true, c.configMap("kept", "a")))
	stop := c.run(t, f)
	f.awaitApplied(t, "e1")
	stop()
	if err := c.client.CoreV1().ConfigMaps(c.namespace).Delete(t.Context(), "kept", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	refusing := newCommander(t)
	refusing.mu.Lock()
	refusing.refuse = true
	refusing.mu.Unlock()
	c.run(t, refusing)
	wait(t, "object again", func() bool { return c.read(t, "kept") != nil })
}

func TestInfoIsPublished(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	f.want("e1")
	c.run(t, f)
	wait(t, "commander-info", func() bool {
		m, err := c.client.CoreV1().ConfigMaps(c.home).Get(t.Context(), "commander-info", metav1.GetOptions{})
		return err == nil && m.Data["data.json"] == `{"flags":{"console":"1"}}`
	})
}
