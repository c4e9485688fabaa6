package charts

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api/apitest"
	"commander/internal/kubetest"
)

// bound is how long an awaited thing may take before a test gives up.
const bound = 3 * time.Minute

// cluster is a control plane in which the chart's definitions, accounts, roles and policies are
// installed. Its programs are started by the tests, outside of it.
type cluster struct {
	t *testing.T
	client.Client
	witness *witness
	server  *kubetest.Server
	objects rendered
	// webhooks is the port at which the cluster calls node-controller; ca signed the certificate
	// there, cert and key.
	webhooks      int
	ca, cert, key string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	server := kubetest.StartOwn(t)
	made, err := client.New(server.Config, client.Options{Scheme: apitest.Scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, Client: made, server: server, witness: &witness{t: t, server: server.Config, done: map[string]rights{}, refused: map[string]rights{}}}
	cert, key, ca := server.Serving(t, "node-controller")
	c.ca, c.cert, c.key, c.webhooks = string(ca), string(cert), string(key), free(t)
	values := needed(nil)
	values["certificates"] = map[string]any{
		"bashibleApiserver": certificate, "registryPackagesProxy": certificate, "nodeController": map[string]any{"ca": c.ca, "crt": c.cert, "key": c.key},
	}
	if c.objects, err = render(t, nodeManager, namespace, values); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{namespace, "d8-system"} {
		c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, o := range c.objects {
		switch o.GetKind() {
		case "CustomResourceDefinition", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration":
			o = o.DeepCopy()
			c.reachable(o)
			c.create(o)
		}
	}
	return c
}

// reachable lets the API server call a webhook on this machine instead of a Service.
func (c *cluster) reachable(o *unstructured.Unstructured) {
	c.t.Helper()
	point := func(at map[string]any) {
		service := at["service"].(map[string]any)
		at["url"] = "https://localhost:" + strconv.Itoa(c.webhooks) + service["path"].(string)
		delete(at, "service")
	}
	if hooks, found, _ := unstructured.NestedSlice(o.Object, "webhooks"); found {
		point(hooks[0].(map[string]any)["clientConfig"].(map[string]any))
		o.Object["webhooks"] = hooks
	}
	path := []string{"spec", "conversion", "webhook", "clientConfig"}
	if config, found, _ := unstructured.NestedMap(o.Object, path...); found {
		point(config)
		if err := unstructured.SetNestedMap(o.Object, config, path...); err != nil {
			c.t.Fatal(err)
		}
	}
}

// create waits for what an object needs: its namespace, kind or webhook may be on the way.
func (c *cluster) create(o client.Object) {
	c.t.Helper()
	var last error
	c.eventually("made: "+o.GetName(), func(ctx context.Context) bool {
		last = c.Create(ctx, o)
		return last == nil || apierrors.IsAlreadyExists(last)
	}, &last)
}

// change patches an object with a merge patch.
func (c *cluster) change(o client.Object, patch string) {
	c.t.Helper()
	var last error
	c.eventually("changed: "+o.GetName(), func(ctx context.Context) bool {
		last = c.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(patch)))
		return last == nil
	}, &last)
}

func (c *cluster) eventually(what string, so func(context.Context) bool, last ...*error) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 20*time.Millisecond, bound, true, func(ctx context.Context) (bool, error) { return so(ctx), nil })
	if err != nil {
		for _, e := range last {
			c.t.Log(*e)
		}
		c.t.Fatalf("never so: %s", what)
	}
}

// start builds a program and runs it until the test ends, as its account.
func (c *cluster) start(name, account string, args ...string) *os.Process {
	c.t.Helper()
	binary := filepath.Join(c.t.TempDir(), name)
	if said, err := exec.CommandContext(c.t.Context(), "go", "build", "-o", binary, "commander/cmd/"+name).CombinedOutput(); err != nil {
		c.t.Fatalf("build %s: %v\n%s", name, err, said)
	}
	said := new(strings.Builder)
	command := exec.Command(binary, append(args, "--kubeconfig="+kubeconfig(c.t, c.witness.as(account, "")))...)
	command.Stdout, command.Stderr = said, said
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = command.Process.Kill() // it may be over
		_ = command.Wait()         // likewise
		if c.t.Failed() {
			lines := strings.Split(said.String(), "\n")
			c.t.Logf("%s said:\n%s", name, strings.Join(lines[max(0, len(lines)-40):], "\n"))
		}
	})
	return command.Process
}

// exercised waits until an account has used all its rights, and says which it has not.
func (c *cluster) exercised(account string) {
	c.t.Helper()
	all := granted(c.t, c.objects, account)
	_ = wait.PollUntilContextTimeout(c.t.Context(), 50*time.Millisecond, bound, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(all, func(r right) bool { return !c.witness.used(account, r) }), nil
	}) // what is left is told by name
	c.witness.judge(c.objects, account)
}

// free is a port that nobody has.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().(*net.TCPAddr).Port
}

// file is one with a content, for the time of the test.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
