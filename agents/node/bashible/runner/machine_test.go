package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	"commander/agents/node/bashible/bundles"
	"commander/agents/node/bashible/render"
	"commander/agents/node/bashible/runner"
	"commander/internal/kubetest"
)

// TestMain lets this binary be the program too: steps start it as they start bashible.
func TestMain(m *testing.M) {
	if os.Getenv("BASHIBLE_TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	runner.Exit(runner.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// machine is a node with a real Node object and a folder in place of its file system.
type machine struct {
	t      *testing.T
	name   string
	dir    string
	client client.Client
	env    []string
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

var installing sync.Mutex // tests share a control plane

// newMachine makes a node of a group of the same name, with its own certificate.
func newMachine(t *testing.T, name string) *machine {
	t.Helper()
	_, c := apitest.Start(t)
	server := kubetest.Start(t)
	m := &machine{t: t, name: name, dir: t.TempDir(), client: c}
	m.install()
	m.must(c.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelGroup: name}}}))
	as := server.As(t, "system:node:"+name, "system:nodes")
	m.put("kubelet.pem", string(as.CertData)+string(as.KeyData))
	m.put("kubelet.conf", fmt.Sprintf("clusters:\n- cluster: {server: %q, certificate-authority: %q}\n", as.Host, as.CAFile))
	m.put("uptime", "100.00 50.00\n")
	m.put("state/discovered-node-name", name)
	m.must(os.MkdirAll(m.path("bin"), 0o755))
	m.put("bin/systemctl", "#!/bin/bash\necho \"$@\" >>"+m.path("systemctl.log")+"\n")
	m.must(os.Chmod(m.path("bin/systemctl"), 0o755))
	self, err := os.Executable()
	m.must(err)
	m.env = append(os.Environ(), "BASHIBLE_TEST_PROGRAM=1", "BASHIBLE_RUNNER="+self, "PATH="+m.path("bin")+":"+os.Getenv("PATH"),
		"BASHIBLE_STATE_DIR="+m.path("state"), "BASHIBLE_LOCK_FILE="+m.path("lock"), "BASHIBLE_KUBELET_CONF="+m.path("kubelet.conf"),
		"BASHIBLE_KUBELET_CERT="+m.path("kubelet.pem"), "BASHIBLE_UPTIME_FILE="+m.path("uptime"), "BASHIBLE_PAUSE=20ms",
		"BASHIBLE_PACKAGES_DIR="+m.path("packages"), "BASHIBLE_API_SERVERS="+strings.TrimPrefix(as.Host, "https://"), "TEST_DIR="+m.dir)
	return m
}

// install makes the kinds of bashible ordinary ones, so that a test says what they hold, and gives
// nodes the rights that they have in a cluster.
func (m *machine) install() {
	m.t.Helper()
	installing.Lock()
	defer installing.Unlock()
	ok := func(err error) { m.must(client.IgnoreAlreadyExists(err)) }
	ok(m.client.Create(m.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}}))
	text, err := os.ReadFile("../../../../charts/node-manager/manifests/access.yaml")
	m.must(err)
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		u := new(unstructured.Unstructured)
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			break
		} else {
			m.must(err)
		}
		ok(m.client.Create(m.t.Context(), u))
	}
	keep := true
	for plural, kind := range map[string]string{"bashibles": "Bashible", "nodegroupbundles": "NodeGroupBundle"} {
		ok(m.client.Create(m.t.Context(), &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + ".bashible.deckhouse.io"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "bashible.deckhouse.io", Scope: apiextensionsv1.ClusterScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1alpha1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}},
				}},
			},
		}))
	}
	library, err := render.Library(bundles.Files)
	m.must(err)
	ok(m.client.Create(m.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: render.LibrarySecret}, Data: map[string][]byte{render.LibraryKey: []byte(library)},
	}))
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

func (m *machine) put(name, text string) {
	m.t.Helper()
	m.must(os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	m.must(os.WriteFile(m.path(name), []byte(text), 0o600))
}

func (m *machine) read(name string) string {
	text, err := os.ReadFile(m.path(name))
	if err != nil {
		return ""
	}
	return string(text)
}

// script is a bashible.sh with a checksum.
func script(checksum string) string {
	return "#!/bin/bash\nexport BASHIBLE_NODE_GROUP=elsewhere BASHIBLE_CHECKSUM=" + checksum + "\nexec \"$BASHIBLE_RUNNER\" run \"$@\"\n"
}

// publish sets what the group of the machine shall have, and its checksum. Steps are by name.
func (m *machine) publish(checksum string, steps map[string]string) {
	m.t.Helper()
	m.set("Bashible", map[string]string{"bashible.sh": script(checksum)})
	m.set("NodeGroupBundle", steps)
}

func (m *machine) set(kind string, data map[string]string) {
	m.t.Helper()
	values := map[string]any{}
	for k, v := range data {
		values[k] = v
	}
	u := &unstructured.Unstructured{Object: map[string]any{"data": values}}
	u.SetAPIVersion("bashible.deckhouse.io/v1alpha1")
	u.SetKind(kind)
	u.SetName(m.name)
	apitest.Eventually(m.t, kind+" is set", func(ctx context.Context) bool {
		old := u.DeepCopy()
		err := m.client.Get(ctx, client.ObjectKeyFromObject(u), old)
		if err == nil {
			u.SetResourceVersion(old.GetResourceVersion())
			return m.client.Update(ctx, u) == nil
		}
		u.SetResourceVersion("")
		return !apierrors.IsAlreadyExists(err) && m.client.Create(ctx, u) == nil
	})
}

// outcome is how a program ended.
type outcome struct {
	code int
	said string
}

// start runs the machine's bashible.sh, or another program of the machine.
func (m *machine) start(program string, args ...string) (wait func() outcome, kill func()) {
	m.t.Helper()
	command := exec.Command(program, args...)
	var said bytes.Buffer
	command.Env, command.Stdout, command.Stderr = m.env, &said, &said
	m.must(command.Start())
	return func() outcome {
			_ = command.Wait() // the code says it
			return outcome{command.ProcessState.ExitCode(), said.String()}
		}, func() {
			_ = command.Process.Kill() // it may be over
		}
}

// run starts bashible.sh and waits for it.
func (m *machine) run(args ...string) outcome {
	m.t.Helper()
	m.must(os.Chmod(m.path("state/bashible.sh"), 0o700))
	wait, kill := m.start(m.path("state/bashible.sh"), args...)
	timer := time.AfterFunc(time.Minute, kill)
	defer timer.Stop()
	return wait()
}

// runs is run that must end with a code.
func (m *machine) runs(code int, args ...string) outcome {
	m.t.Helper()
	o := m.run(args...)
	if o.code != code {
		m.t.Fatalf("ended with %d, want %d:\n%s", o.code, code, o.said)
	}
	return o
}

func (m *machine) node() *corev1.Node {
	m.t.Helper()
	n := new(corev1.Node)
	m.must(m.client.Get(m.t.Context(), client.ObjectKey{Name: m.name}, n))
	return n
}

func (m *machine) annotate(values string) {
	m.t.Helper()
	m.must(m.client.Patch(m.t.Context(), m.node(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":`+values+`}}`))))
}

func (m *machine) expectAnnotations(want ...string) {
	m.t.Helper()
	got := slices.Sorted(maps.Keys(m.node().Annotations))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.t.Errorf("the node has annotations %v, want %v", got, want)
	}
}

// settled makes the machine one whose first run is long over and that has a configuration.
func (m *machine) settled(checksum string) {
	m.t.Helper()
	m.put("state/bashible.sh", script(checksum))
	m.put("state/bashible-fully-initialized", "")
	m.put("state/configuration_checksum", checksum+"\n")
	m.put("state/uptime", "50\n")
}
