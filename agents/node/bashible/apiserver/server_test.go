package apiserver

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/bashible/input"
	bashible "commander/agents/node/bashible/v1alpha1"
)

// One server behind one API server, since an APIService belongs to the whole cluster.
func TestServerBehindARealAPIServer(t *testing.T) {
	t.Parallel()
	w := start(t)
	apitest.Eventually(t, "the aggregated API answers", func(context.Context) bool { return w.step("a", "010_dns.sh") != "" })
	apitest.Eventually(t, "checksums are told", func(ctx context.Context) bool { return len(w.checksums(ctx)) == 2 })
	t.Run("what an administrator gets", w.readsAsAdministrator)
	t.Run("what machines get", w.readsAsMachine)
	t.Run("verbs other than get", w.refusesOtherVerbs)
	t.Run("a changed input", w.followsInputs)
	t.Run("a broken input", w.keepsOldOnError)
	t.Run("the lock", w.freezesUnderLock)
}

func (w *world) readsAsAdministrator(t *testing.T) {
	w.t = t
	before := time.Now().Add(-time.Second)
	for resource, kind := range map[string]string{"bashibles": "Bashible", "nodegroupbundles": "NodeGroupBundle", "bootstrap": "Bootstrap"} {
		u, err := w.get(w.server.Config, resource, "a")
		w.must(err)
		if u.GetKind() != kind || u.GetName() != "a" {
			t.Errorf("got %s %s, want %s a", u.GetKind(), u.GetName(), kind)
		}
		if made := u.GetCreationTimestamp(); made.Time.Before(before.Truncate(time.Second)) || made.After(time.Now().Add(time.Second)) {
			t.Errorf("%s is dated %s, want the time of the request", kind, made)
		}
		if got, want := u.GetAnnotations()[bashible.AnnotationChecksum], w.checksums(t.Context())["a"]; got != want || len(want) != 64 {
			t.Errorf("checksum of %s is %q, the cluster was told %q", kind, got, want)
		}
		if _, err := w.get(w.server.Config, resource, "nobody"); !apierrors.IsNotFound(err) {
			t.Errorf("an unknown group: got %v, want not found", err)
		}
	}
	u, err := w.get(w.server.Config, "bashibles", "a")
	w.must(err)
	script, _, _ := unstructured.NestedString(u.Object, "data", "bashible.sh")
	if !strings.Contains(script, w.checksums(t.Context())["a"]) {
		t.Errorf("bashible.sh has another checksum than the cluster was told: %q", script)
	}
	list, err := w.do(w.server.Config, "GET", "/apis/bashible.deckhouse.io/v1alpha1/bashibles")
	w.must(err)
	if items, _, _ := unstructured.NestedSlice(list.Object, "items"); len(items) != 0 {
		t.Errorf("a list has %d items, want none", len(items))
	}
	for name, want := range map[string]string{"bashible-bashbooster/bashbooster.sh": "bb-log()", "manual-bootstrap-for-a/bootstrap.sh": "# token"} {
		secretName, key, _ := strings.Cut(name, "/")
		s := new(corev1.Secret)
		w.must(w.client.Get(t.Context(), client.ObjectKey{Namespace: api.Namespace, Name: secretName}, s))
		if !strings.Contains(string(s.Data[key]), want) {
			t.Errorf("%s is %q, want %q in it", name, s.Data[key], want)
		}
	}
}

func (w *world) readsAsMachine(t *testing.T) {
	w.t = t
	w.must(w.client.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: map[string]string{api.LabelGroup: "a"}}}))
	node := w.server.As(t, "system:node:node-a", "system:nodes")
	for id, group := range map[string]string{"aaaaaa": "a", "nobody": ""} {
		s := secret(tokenSpace, secretPrefix+id, map[string][]byte{
			"token-id": []byte(id), "token-secret": []byte("0123456789abcdef"), "usage-bootstrap-authentication": []byte("true"),
			"auth-extra-groups": []byte("system:bootstrappers:d8-node-manager"),
		})
		s.Type, s.Labels = "bootstrap.kubernetes.io/token", map[string]string{api.LabelTokenGroup: group}
		w.must(w.client.Create(t.Context(), s))
	}
	token := w.server.WithToken("aaaaaa.0123456789abcdef")
	apitest.Eventually(t, "the token is known", func(context.Context) bool {
		_, err := w.get(token, "bootstrap", "a")
		return err == nil
	})
	for _, resource := range []string{"bashibles", "nodegroupbundles", "bootstrap"} {
		if _, err := w.get(node, resource, "a"); err != nil {
			t.Errorf("a node cannot read %s of its group: %v", resource, err)
		}
		if _, err := w.get(token, resource, "a"); err != nil {
			t.Errorf("a token cannot read %s of its group: %v", resource, err)
		}
		if _, err := w.get(node, resource, "b"); !apierrors.IsForbidden(err) {
			t.Errorf("a node reads %s of another group: %v, want forbidden", resource, err)
		}
		if _, err := w.get(token, resource, "b"); !apierrors.IsForbidden(err) {
			t.Errorf("a token reads %s of another group: %v, want forbidden", resource, err)
		}
		if _, err := w.get(w.server.WithToken("nobody.0123456789abcdef"), resource, "a"); !apierrors.IsForbidden(err) {
			t.Errorf("a token without a group reads %s: %v, want forbidden", resource, err)
		}
		if _, err := w.get(w.server.As(t, "somebody", "people"), resource, "a"); !apierrors.IsForbidden(err) {
			t.Errorf("somebody reads %s: %v, want forbidden", resource, err)
		}
	}
	// A node that moves itself to another group would read that one's.
	mine, err := client.New(node, client.Options{Scheme: apitest.Scheme(t)})
	w.must(err)
	moved := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
	err = mine.Patch(t.Context(), moved, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"node.deckhouse.io/group":"b"}}}`)))
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		t.Errorf("a node changes its own group: %v, want it refused", err)
	}
}

func (w *world) refusesOtherVerbs(t *testing.T) {
	w.t = t
	node := w.server.As(t, "system:node:node-a", "system:nodes")
	const path = "/apis/bashible.deckhouse.io/v1alpha1/bashibles"
	for _, c := range []struct{ verb, path string }{{"POST", path}, {"PUT", path + "/a"}, {"DELETE", path + "/a"}, {"GET", path}} {
		if _, err := w.do(node, c.verb, c.path); !apierrors.IsForbidden(err) {
			t.Errorf("%s by a node: %v, want forbidden", c.verb, err)
		}
		if c.verb == "GET" {
			continue
		}
		_, err := w.do(w.server.Config, c.verb, c.path)
		if status, is := err.(apierrors.APIStatus); !is || status.Status().Code != http.StatusMethodNotAllowed {
			t.Errorf("%s by an administrator: %v, want that the method is not allowed", c.verb, err)
		}
	}
	if _, err := w.do(w.server.Config, "GET", "/apis/bashible.deckhouse.io/v1alpha1/watch/bashibles/a"); err == nil {
		t.Error("a watch was started, want none")
	}
}

func (w *world) followsInputs(t *testing.T) {
	w.t = t
	before := w.checksums(t.Context())
	c := cluster()
	c.DNSAddress = "10.96.0.99"
	w.setContext(c)
	w.eventuallyStep("a", "010_dns.sh", "10.96.0.99")
	apitest.Eventually(t, "the checksum of a changed", func(ctx context.Context) bool { return w.checksums(ctx)["a"] != before["a"] })

	before = w.checksums(t.Context())
	w.must(w.client.Create(t.Context(), &v1.NodeUser{
		ObjectMeta: metav1.ObjectMeta{Name: "eve"}, Spec: v1.NodeUserSpec{UID: 1001, SSHPublicKey: "k", PasswordHash: "x", NodeGroups: []string{"a"}},
	}))
	w.eventuallyStep("a", "050_user.sh", "user eve")
	if text := w.step("b", "050_user.sh"); strings.Contains(text, "eve") {
		t.Errorf("group b got a user of a: %q", text)
	}
	apitest.Eventually(t, "only the checksum of a changed", func(ctx context.Context) bool {
		now := w.checksums(ctx)
		return now["a"] != before["a"] && now["b"] == before["b"]
	})

	w.must(w.client.Create(t.Context(), &v1alpha1.NodeGroupConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "own.sh"},
		Spec:       v1alpha1.NodeGroupConfigurationSpec{Content: "echo {{ .nodeGroup.name }}", Weight: 7, NodeGroups: []string{"b"}, Bundles: []string{"*"}},
	}))
	w.eventuallyStep("b", "007_own.sh", "echo b")

	// As a mounted ConfigMap does: the name is swapped to another file.
	next := filepath.Join(filepath.Dir(w.digests), "next")
	w.must(os.WriteFile(next, []byte(`{"common":{"pause":"sha256:two"}}`), 0o600))
	w.must(os.Rename(next, w.digests))
	for _, group := range []string{"a", "b"} {
		w.eventuallyStep(group, "020_images.sh", "sha256:two")
	}
}

func (w *world) keepsOldOnError(t *testing.T) {
	w.t = t
	apitest.Eventually(t, "all is told", func(ctx context.Context) bool {
		u, err := w.get(w.server.Config, "bashibles", "a")
		return err == nil && u.GetAnnotations()[bashible.AnnotationChecksum] == w.checksums(ctx)["a"]
	})
	before, old := w.checksums(t.Context()), w.step("a", "010_dns.sh")
	c := cluster()
	c.DNSAddress = ""
	w.setContext(c)
	apitest.Eventually(t, "the reason is in the log", func(context.Context) bool {
		return strings.Contains(w.log.String(), "clusterDNSAddress is missing")
	})
	if now := w.checksums(t.Context()); now["a"] != before["a"] || now["b"] != before["b"] {
		t.Errorf("checksums changed from %v to %v by an input that cannot be rendered", before, now)
	}
	if now := w.step("a", "010_dns.sh"); now != old {
		t.Errorf("the step changed from %q to %q", old, now)
	}
	w.setContext(cluster())
	w.eventuallyStep("a", "010_dns.sh", "10.96.0.10")
}

func (w *world) freezesUnderLock(t *testing.T) {
	w.t = t
	lock := func(value string) {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: input.Secret}}
		w.must(w.client.Patch(t.Context(), s, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"annotations":{"`+input.AnnotationLocked+`":`+value+`}}}`))))
	}
	waits := func(change func()) {
		t.Helper()
		before := strings.Count(w.log.String(), "a change waits")
		change()
		apitest.Eventually(t, "a change was seen and left", func(context.Context) bool {
			return strings.Count(w.log.String(), "a change waits") > before
		})
	}
	waits(func() { lock(`"true"`) })
	waits(func() {
		c := cluster()
		c.DNSAddress = "10.96.0.77"
		w.setContext(c)
	})
	waits(func() {
		w.must(w.client.Delete(t.Context(), &v1alpha1.NodeGroupConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "own.sh"}}))
	})
	if text := w.step("a", "010_dns.sh"); !strings.Contains(text, "10.96.0.10") {
		t.Errorf("under lock the step became %q", text)
	}
	if w.step("b", "007_own.sh") == "" {
		t.Error("under lock a script went")
	}
	lock("null")
	w.eventuallyStep("a", "010_dns.sh", "10.96.0.77")
}

func (w *world) setContext(c input.Cluster) {
	w.t.Helper()
	text, err := c.Marshal()
	w.must(err)
	s := new(corev1.Secret)
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: api.Namespace, Name: input.Secret}, s))
	s.Data[input.Key] = text
	w.must(w.client.Update(w.t.Context(), s))
}
