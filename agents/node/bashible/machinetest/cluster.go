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

// Group is that of all nodes, and the network that a script of a user's gives them, as a module
// with a CNI would.
const (
	Group = "worker"

	Network = `mkdir -p /etc/cni/net.d
bb-sync-file /etc/cni/net.d/10-test.conflist - <<'CNI'
{"cniVersion":"0.4.0","name":"test","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,"ipam":{"type":"host-local","ranges":[[{"subnet":"10.244.9.0/24"}]]}}]}
CNI
`
	token = "abcdef.0123456789abcdef"
)

// Cluster is a control plane with all that nodes need of it.
type Cluster struct {
	Server  *kubetest.Server
	Client  client.Client
	t       *testing.T
	gateway string
	input   input.Cluster
}

func (c *Cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// NewCluster starts everything at an address that machines reach. Nodes are of a permanent group
// unless a change of the input says otherwise.
func NewCluster(t *testing.T, gateway, kubelet string, changes ...func(*input.Cluster)) *Cluster {
	t.Helper()
	c := &Cluster{t: t, gateway: gateway}
	c.Server = kubetest.StartAt(t, gateway, "csrapproving,csrsigning,node-lifecycle-controller")
	made, err := client.New(c.Server.Config, client.Options{Scheme: apitest.Scheme(t)})
	c.must(err)
	c.Client = made
	definitions, err := crds.Definitions()
	c.must(err)
	for _, crd := range definitions {
		c.must(c.Client.Create(t.Context(), crd))
	}
	for _, name := range []string{api.Namespace, "d8-system"} {
		c.must(c.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	c.install(filepath.Join(root(c.t), "charts/node-manager/manifests/access.yaml"), nil)
	id, secret, _ := strings.Cut(token, ".")
	c.must(c.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id, Labels: map[string]string{api.LabelTokenGroup: Group}},
		Type:       "bootstrap.kubernetes.io/token",
		StringData: map[string]string{"token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true", "auth-extra-groups": "system:bootstrappers:d8-node-manager"},
	}))
	store := t.TempDir()
	digests := c.packages(store, kubelet)
	address := c.servePackages(store)
	c.input = input.Cluster{
		Domain: "cluster.local", DNSAddress: "10.96.0.10", KubernetesVersion: "1.37", CA: string(c.Server.CA(t)) + string(c.authority()),
		APIServerEndpoints: []string{strings.TrimPrefix(c.Server.Config.Host, "https://")},
		PackagesProxy:      input.PackagesProxy{Addresses: []string{address}, Token: c.Server.Config.BearerToken},
		BootstrapTokens:    map[string]string{Group: token},
		NodeGroups:         []input.Group{{"name": Group, "nodeType": "CloudPermanent", "kubernetesVersion": "1.37", "cri": map[string]any{"type": "Containerd"}}},
	}
	for _, change := range changes {
		change(&c.input)
	}
	c.must(c.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "d8-system", Name: "deckhouse-registry"},
		Data:       map[string][]byte{"address": []byte("registry.local"), "path": []byte("/deckhouse"), "scheme": []byte("https")},
	}))
	c.must(c.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: input.Secret}, Data: c.context()}))
	c.serveConfigurations(digests)
	return c
}

func (c *Cluster) context() map[string][]byte {
	c.t.Helper()
	text, err := c.input.Marshal()
	c.must(err)
	return map[string][]byte{input.Key: text}
}

func (c *Cluster) authority() []byte {
	_, _, ca := c.Server.Serving(c.t, "nobody")
	return ca
}

// install creates the objects of a file.
func (c *Cluster) install(name string, change func(*unstructured.Unstructured)) {
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
		c.must(c.Client.Create(c.t.Context(), u))
	}
}

// Script makes a step of a user's for the group.
func (c *Cluster) Script(name, content string) {
	c.t.Helper()
	c.must(c.Client.Create(c.t.Context(), &v1alpha1.NodeGroupConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.NodeGroupConfigurationSpec{Content: content, Weight: 35, NodeGroups: []string{Group}, Bundles: []string{"debian"}},
	}))
}

// packages makes all that a node installs.
func (c *Cluster) packages(store, kubelet string) map[string]any {
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
func (c *Cluster) servePackages(store string) string {
	c.t.Helper()
	kube, err := kubernetes.NewForConfig(c.Server.Config)
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
func (c *Cluster) certificate(name string) string {
	c.t.Helper()
	dir := c.t.TempDir()
	cert, key, _ := c.Server.Serving(c.t, name)
	c.must(os.WriteFile(filepath.Join(dir, "tls.crt"), cert, 0o600))
	c.must(os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	return dir
}

// serveConfigurations runs bashible-api-server behind the API server.
func (c *Cluster) serveConfigurations(digests map[string]any) {
	c.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	c.must(err)
	dir := c.certificate("bashible-api." + api.Namespace + ".svc")
	raw, err := json.Marshal(digests)
	c.must(err)
	c.must(os.WriteFile(filepath.Join(dir, "digests.json"), raw, 0o600))
	c.install(filepath.Join(root(c.t), "charts/node-manager/manifests/apiservice.yaml"), func(u *unstructured.Unstructured) {
		c.must(unstructured.SetNestedField(u.Object, base64.StdEncoding.EncodeToString(c.authority()), "spec", "caBundle"))
		c.must(unstructured.SetNestedField(u.Object, int64(listener.Addr().(*net.TCPAddr).Port), "spec", "service", "port"))
	})
	c.must(c.Client.Create(c.t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: "bashible-api"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- apiserver.Run(ctx, apiserver.Options{
			Listen: apiserver.Listen{
				Listener: listener, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), Kubeconfig: kubeconfig(c.t, c.Server.Config),
			},
			Cluster: c.Server.Config, Templates: bundles.Files, DigestsFile: filepath.Join(dir, "digests.json"),
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

// Ready says whether kubelet and network of a node are.
func Ready(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
