package machinetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	"commander/agents/node/api/crds"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/bashible/apiserver"
	"commander/agents/node/bashible/bundles"
	"commander/agents/node/bashible/input"
	"commander/agents/node/bashible/runner"
	"commander/agents/node/packages"
	"commander/internal/clock"
	"commander/internal/guard"
	"commander/internal/kubetest"
)

const (
	group = "worker"
	token = "abcdef.0123456789abcdef"
)

// cluster is a control plane with all that nodes need of it.
type cluster struct {
	t       *testing.T
	server  *kubetest.Server
	client  client.Client
	gateway string
	input   input.Cluster
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// newCluster starts everything at an address that machines reach.
func newCluster(t *testing.T, gateway, kubelet string) *cluster {
	t.Helper()
	c := &cluster{t: t, gateway: gateway}
	c.server = kubetest.StartAt(t, gateway, "csrapproving,csrsigning,node-lifecycle-controller")
	made, err := client.New(c.server.Config, client.Options{Scheme: apitest.Scheme(t)})
	c.must(err)
	c.client = made
	definitions, err := crds.Definitions()
	c.must(err)
	for _, crd := range definitions {
		c.must(c.client.Create(t.Context(), crd))
	}
	for _, name := range []string{api.Namespace, "d8-system"} {
		c.must(c.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	c.install("../../../../charts/node-manager/manifests/access.yaml", nil)
	id, secret, _ := strings.Cut(token, ".")
	c.must(c.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id, Labels: map[string]string{api.LabelTokenGroup: group}},
		Type:       "bootstrap.kubernetes.io/token",
		StringData: map[string]string{"token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true", "auth-extra-groups": "system:bootstrappers:d8-node-manager"},
	}))
	store := t.TempDir()
	digests := c.packages(store, kubelet)
	address := c.servePackages(store)
	c.input = input.Cluster{
		Domain: "cluster.local", DNSAddress: "10.96.0.10", KubernetesVersion: "1.37", CA: string(c.server.CA(t)) + string(c.authority()),
		APIServerEndpoints: []string{strings.TrimPrefix(c.server.Config.Host, "https://")},
		PackagesProxy:      input.PackagesProxy{Addresses: []string{address}, Token: c.server.Config.BearerToken},
		BootstrapTokens:    map[string]string{group: token},
		NodeGroups:         []input.Group{{"name": group, "nodeType": "CloudPermanent", "kubernetesVersion": "1.37", "cri": map[string]any{"type": "Containerd"}}},
	}
	c.must(c.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "d8-system", Name: "deckhouse-registry"},
		Data:       map[string][]byte{"address": []byte("registry.local"), "path": []byte("/deckhouse"), "scheme": []byte("https")},
	}))
	c.must(c.client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: input.Secret}, Data: c.context()}))
	c.serveConfigurations(digests)
	return c
}

func (c *cluster) context() map[string][]byte {
	c.t.Helper()
	text, err := c.input.Marshal()
	c.must(err)
	return map[string][]byte{input.Key: text}
}

func (c *cluster) authority() []byte {
	_, _, ca := c.server.Serving(c.t, "nobody")
	return ca
}

// install creates the objects of a file.
func (c *cluster) install(name string, change func(*unstructured.Unstructured)) {
	c.t.Helper()
	content, err := os.ReadFile(name)
	c.must(err)
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		u := new(unstructured.Unstructured)
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			return
		} else {
			c.must(err)
		}
		if change != nil {
			change(u)
		}
		c.must(c.client.Create(c.t.Context(), u))
	}
}

// packages makes all that a node installs.
func (c *cluster) packages(store, kubelet string) map[string]any {
	c.t.Helper()
	binary := filepath.Join(c.t.TempDir(), "bashible")
	build := exec.CommandContext(c.t.Context(), "go", "build", "-o", binary, "commander/cmd/bashible")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		c.t.Fatalf("build bashible: %v\n%s", err, said)
	}
	// In one move: the program may be running.
	const install = "set -e\nmkdir -p /opt/deckhouse/bin\nfor f in files/*; do cp \"$f\" /opt/deckhouse/bin/.new; chmod 0755 /opt/deckhouse/bin/.new; mv /opt/deckhouse/bin/.new \"/opt/deckhouse/bin/${f#files/}\"; done\n"
	const plugins = "set -e\nmkdir -p /opt/cni/bin\ncp files/* /opt/cni/bin/\nchmod 0755 /opt/cni/bin/*\n"
	// runc needs libraries that a bare machine lacks.
	const libraries = install + "cp -n libraries/* /usr/lib/x86_64-linux-gnu/ || true\nldconfig\n"
	with := func(script string, files []file) string {
		return pack(c.t, store, append([]file{text("install", script)}, files...)...)
	}
	runc := fromImage(c.t, "/usr/sbin/runc")
	for _, f := range fromImage(c.t, "/usr/lib/x86_64-linux-gnu/libseccomp.so.2") {
		f.name = "libraries/libseccomp.so.2"
		runc = append(runc, f)
	}
	return map[string]any{
		"common": map[string]any{"pause": "sha256:" + strings.Repeat("0", 64)},
		"registrypackages": map[string]any{
			"bashible":      with(install, []file{program(c.t, "files/bashible", binary)}),
			"kubelet137":    with(install, []file{program(c.t, "files/kubelet", kubelet)}),
			"containerd":    with(install, fromImage(c.t, "/usr/bin/containerd", "/usr/bin/containerd-shim-runc-v2", "/usr/bin/ctr")),
			"runc":          with(libraries, runc),
			"kubernetesCni": with(plugins, fromImage(c.t, "/usr/lib/cni")),
		},
	}
}

// servePackages runs a package server for machines and returns its address.
func (c *cluster) servePackages(store string) string {
	c.t.Helper()
	kube, err := kubernetes.NewForConfig(c.server.Config)
	c.must(err)
	may := authorizationv1.ResourceAttributes{Group: "bashible.deckhouse.io", Resource: "packages", Verb: "get"}
	dir := c.certificate(runner.PackagesServerName)
	config, err := guard.TLS(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), "", clock.System{})
	c.must(err)
	listener, err := net.Listen("tcp", net.JoinHostPort(c.gateway, "0"))
	c.must(err)
	server := &http.Server{
		Handler:   guard.New(kube, may, clock.System{}).Handler(&packages.Server{Dir: store, Log: slog.New(slog.DiscardHandler)}),
		TLSConfig: config, ReadHeaderTimeout: time.Minute,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			c.t.Errorf("package server: %v", err)
		}
	}()
	c.t.Cleanup(func() {
		_ = server.Close() // machines that still ask are gone too
		<-ended
	})
	return listener.Addr().String()
}

// certificate writes one for a server to a folder.
func (c *cluster) certificate(name string) string {
	c.t.Helper()
	dir := c.t.TempDir()
	cert, key, _ := c.server.Serving(c.t, name)
	c.must(os.WriteFile(filepath.Join(dir, "tls.crt"), cert, 0o600))
	c.must(os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	return dir
}

// serveConfigurations runs bashible-api-server behind the API server.
func (c *cluster) serveConfigurations(digests map[string]any) {
	c.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	c.must(err)
	dir := c.certificate("bashible-api." + api.Namespace + ".svc")
	raw, err := json.Marshal(digests)
	c.must(err)
	c.must(os.WriteFile(filepath.Join(dir, "digests.json"), raw, 0o600))
	c.install("../../../../charts/node-manager/manifests/apiservice.yaml", func(u *unstructured.Unstructured) {
		c.must(unstructured.SetNestedField(u.Object, base64.StdEncoding.EncodeToString(c.authority()), "spec", "caBundle"))
		c.must(unstructured.SetNestedField(u.Object, int64(listener.Addr().(*net.TCPAddr).Port), "spec", "service", "port"))
	})
	c.must(c.client.Create(c.t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: "bashible-api"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- apiserver.Run(ctx, apiserver.Options{
			Listen: apiserver.Listen{
				Listener: listener, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), Kubeconfig: kubeconfig(c.t, c.server.Config),
			},
			Cluster: c.server.Config, Templates: bundles.Files, DigestsFile: filepath.Join(dir, "digests.json"),
			Clock: clock.System{}, Log: slog.New(slog.NewTextHandler(c.t.Output(), nil)),
		})
	}()
	c.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Errorf("bashible-api-server ended with %v", err)
		}
	})
}

func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Token: config.BearerToken}},
		Contexts:  map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}}, CurrentContext: "x",
	}, name)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// network is a script of a user's, as a module with a CNI would bring one.
const network = `mkdir -p /etc/cni/net.d
bb-sync-file /etc/cni/net.d/10-test.conflist - <<'CNI'
{"cniVersion":"0.4.0","name":"test","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,"ipam":{"type":"host-local","ranges":[[{"subnet":"10.244.9.0/24"}]]}}]}
CNI
`

func ready(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// From a bare machine to a node that is ready, by nothing but the script that the cluster has for
// it; then a new configuration comes by itself.
func TestBareMachineBecomesANode(t *testing.T) {
	gateway, kubelet := needs(t)
	c := newCluster(t, gateway, kubelet)
	c.must(c.client.Create(t.Context(), &v1alpha1.NodeGroupConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "network.sh"},
		Spec:       v1alpha1.NodeGroupConfigurationSpec{Content: network, Weight: 35, NodeGroups: []string{group}, Bundles: []string{"debian"}},
	}))
	c.must(c.client.Create(t.Context(), &v1.NodeUser{
		ObjectMeta: metav1.ObjectMeta{Name: "eve"},
		Spec:       v1.NodeUserSpec{UID: 1500, SSHPublicKey: "ssh-ed25519 AAAA eve", PasswordHash: "*", IsSudoer: true, NodeGroups: []string{"*"}},
	}))
	manual := new(corev1.Secret)
	eventually(t, "the script for machines is there, with all of it", func(ctx context.Context) bool {
		err := c.client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: "manual-bootstrap-for-" + group}, manual)
		checksums := new(corev1.Secret)
		return err == nil && c.client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: api.ChecksumsSecret}, checksums) == nil
	})
	m := newMachine(t, "bare")
	began := time.Now()
	t.Logf("the machine said:\n%s", m.run(string(manual.Data["bootstrap.sh"]), "cat >/root/bootstrap.sh && bash /root/bootstrap.sh"))
	node := new(corev1.Node)
	eventually(t, "the node is ready", func(ctx context.Context) bool {
		return c.client.Get(ctx, client.ObjectKey{Name: "bare"}, node) == nil && ready(node)
	})
	t.Logf("from a bare machine to a ready node: %s", time.Since(began).Round(100*time.Millisecond))
	checksums := new(corev1.Secret)
	c.must(c.client.Get(t.Context(), client.ObjectKey{Namespace: api.Namespace, Name: api.ChecksumsSecret}, checksums))
	if got := node.Annotations[api.AnnotationChecksum]; got == "" || got != string(checksums.Data[group]) {
		t.Errorf("the node tells checksum %q, the cluster has %q", got, checksums.Data[group])
	}
	if node.Labels[api.LabelGroup] != group || node.Labels[api.LabelType] != "CloudPermanent" || node.Labels[api.LabelFirstRunFinished] != "true" {
		t.Errorf("the node has labels %v", node.Labels)
	}
	if got := m.run("", "id -u eve; id -Gn eve; systemctl is-active bashible.timer bashible-watch kubelet containerd; ls /var/lib/bashible/bootstrap-token 2>&1 || true"); !strings.HasPrefix(got, "1500\neve sudo\nactive\nactive\nactive\nactive\n") || !strings.Contains(got, "No such file") {
		t.Errorf("on the machine:\n%s", got)
	}
	if got := m.run("", "systemctl show -p TimersMonotonic bashible.timer"); !strings.Contains(got, "OnBootUSec=1min ") || !strings.Contains(got, "OnUnitActiveUSec=1min ") {
		t.Errorf("the timer is %s, want one of a minute, also after the start", got)
	}

	// A change comes by the watch; the node asks, and is let.
	eve := &v1.NodeUser{ObjectMeta: metav1.ObjectMeta{Name: "eve"}}
	c.must(c.client.Delete(t.Context(), eve))
	eventually(t, "the node asks", func(ctx context.Context) bool {
		c.must(c.client.Get(ctx, client.ObjectKeyFromObject(node), node))
		_, asks := node.Annotations[api.UpdateWaiting]
		return asks
	})
	c.must(c.client.Patch(t.Context(), node, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+api.UpdateApproved+`":"","`+api.UpdateWaiting+`":null}}}`))))
	eventually(t, "the node is up to date", func(ctx context.Context) bool {
		c.must(c.client.Get(ctx, client.ObjectKeyFromObject(checksums), checksums))
		c.must(c.client.Get(ctx, client.ObjectKeyFromObject(node), node))
		return node.Annotations[api.AnnotationChecksum] == string(checksums.Data[group])
	})
	if got := m.run("", "getent passwd eve || echo gone"); got != "gone" {
		t.Errorf("the user is still there: %s", got)
	}
	if !ready(node) {
		t.Error("the node is not ready after its update")
	}
}
