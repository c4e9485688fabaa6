package apiserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	"commander/agents/node/bashible/input"
	"commander/internal/clock"
	"commander/internal/kubetest"
)

const serviceName = "bashible-api." + api.Namespace + ".svc"

// templates are a small bundle whose output shows what it was made from.
var templates = fstest.MapFS{
	"bashible/library/10_log.sh":                       {Data: []byte("bb-log() { echo \"$@\"; }\n")},
	"bashible/bashible.sh.tpl":                         {Data: []byte("#!/bin/bash\n# checksum {{ .configurationChecksum }}\n")},
	"bashible/bootstrap/01-prerequisites.sh.tpl":       {Data: []byte("#!/bin/bash\n# token {{ .bootstrapToken }}\n")},
	"bashible/bootstrap/02-bootstrap-bashible.sh.tpl":  {Data: []byte("#!/bin/bash\n# group {{ .nodeGroup.name }}\n")},
	"bashible/common-steps/all/010_dns.sh.tpl":         {Data: []byte(`dns {{ required "clusterDNSAddress is missing" .normal.clusterDNSAddress }}`)},
	"bashible/common-steps/all/020_images.sh.tpl":      {Data: []byte(`pause {{ .images.common.pause }}`)},
	"bashible/common-steps/node-group/050_user.sh.tpl": {Data: []byte(`{{ range .nodeUsers }}user {{ .name }};{{ end }}`)},
}

// world is a running server behind a real API server.
type world struct {
	t       *testing.T
	server  *kubetest.Server
	client  client.Client
	digests string
	log     *lines
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// cluster is the input of two groups.
func cluster() input.Cluster {
	return input.Cluster{
		DNSAddress: "10.96.0.10", KubernetesVersion: "1.37", APIServerEndpoints: []string{"10.0.0.1:6443"},
		NodeGroups: []input.Group{
			{"name": "a", "nodeType": "CloudPermanent", "cri": map[string]any{"type": "Containerd"}},
			{"name": "b", "nodeType": "CloudEphemeral", "cloudInstances": map[string]any{"minPerZone": 1, "maxPerZone": 2}},
		},
	}
}

func secret(namespace, name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
}

func contextSecret(t *testing.T, c input.Cluster) *corev1.Secret {
	t.Helper()
	text, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return secret(api.Namespace, input.Secret, map[string][]byte{input.Key: text})
}

// start installs all that the server needs and runs it until the test ends.
func start(t *testing.T) *world {
	t.Helper()
	_, c := apitest.Start(t)
	w := &world{t: t, server: kubetest.Start(t), client: c, log: new(lines)}
	for _, name := range []string{api.Namespace, registryNamespace} {
		w.must(client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	cert, key, ca := w.server.Serving(t, serviceName)
	dir := t.TempDir()
	w.digests = filepath.Join(dir, "images_digests.json")
	w.must(os.WriteFile(w.digests, []byte(`{"common":{"pause":"sha256:one"}}`), 0o600))
	w.must(os.WriteFile(filepath.Join(dir, "tls.crt"), cert, 0o600))
	w.must(os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	w.install("../../../../charts/node-manager/manifests/access.yaml", nil)
	w.install("../../../../charts/node-manager/manifests/apiservice.yaml", func(u *unstructured.Unstructured) {
		w.must(unstructured.SetNestedField(u.Object, base64.StdEncoding.EncodeToString(ca), "spec", "caBundle"))
		w.must(unstructured.SetNestedField(u.Object, int64(listener.Addr().(*net.TCPAddr).Port), "spec", "service", "port"))
	})
	// A name in place of pods: the API server of the test cannot reach a network of pods.
	w.must(c.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: "bashible-api"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}))
	w.must(c.Create(t.Context(), contextSecret(t, cluster())))
	w.must(c.Create(t.Context(), secret(registryNamespace, registrySecret, map[string][]byte{"address": []byte("registry.local")})))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Listen: Listen{
				Listener: listener, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"),
				Kubeconfig: kubeconfig(t, w.server.Config),
			},
			Cluster: w.server.Config, Templates: templates, DigestsFile: w.digests, Dump: filepath.Join(dir, "dump"),
			Clock: clock.System{}, Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if t.Failed() {
			t.Logf("log of the server:\n%s", w.log)
		}
	})
	return w
}

// install creates the objects of a file, changed first.
func (w *world) install(file string, change func(*unstructured.Unstructured)) {
	w.t.Helper()
	text, err := os.ReadFile(file)
	w.must(err)
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		u := new(unstructured.Unstructured)
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			return
		} else {
			w.must(err)
		}
		if change != nil {
			change(u)
		}
		w.must(w.client.Create(w.t.Context(), u))
	}
}

// kubeconfig writes a file that reaches the API server as config does.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Token: config.BearerToken}},
		Contexts:  map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}}, CurrentContext: "x",
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// get asks for an object as a user, through the API server of the cluster.
func (w *world) get(as *rest.Config, resource, name string) (*unstructured.Unstructured, error) {
	return w.do(as, "GET", "/apis/bashible.deckhouse.io/v1alpha1/"+resource+"/"+name)
}

func (w *world) do(as *rest.Config, verb, path string) (*unstructured.Unstructured, error) {
	w.t.Helper()
	c, err := rest.UnversionedRESTClientFor(&rest.Config{
		Host: as.Host, BearerToken: as.BearerToken, TLSClientConfig: as.TLSClientConfig, QPS: as.QPS, Burst: as.Burst,
		ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs.WithoutConversion()},
	})
	w.must(err)
	request := c.Verb(verb).AbsPath(path)
	if verb == "POST" || verb == "PUT" {
		request = request.SetHeader("Content-Type", "application/json").Body([]byte(`{"apiVersion":"bashible.deckhouse.io/v1alpha1","kind":"Bashible","metadata":{"name":"a"},"data":{}}`))
	}
	raw, err := request.DoRaw(w.t.Context())
	if err != nil {
		return nil, err
	}
	u := new(unstructured.Unstructured)
	return u, u.UnmarshalJSON(raw)
}

// checksums are those that the cluster was told.
func (w *world) checksums(ctx context.Context) map[string]string {
	s := new(corev1.Secret)
	err := w.client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: api.ChecksumsSecret}, s)
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Error(err)
	}
	all := map[string]string{}
	for group, sum := range s.Data {
		all[group] = string(sum)
	}
	return all
}

// step is the text of a step of a group, as the server gives it now.
func (w *world) step(group, name string) string {
	u, err := w.get(w.server.Config, "nodegroupbundles", group)
	if err != nil {
		return ""
	}
	text, _, _ := unstructured.NestedString(u.Object, "data", name)
	return text
}

func (w *world) eventuallyStep(group, name, part string) {
	w.t.Helper()
	apitest.Eventually(w.t, "step "+name+" of "+group+" has "+part, func(context.Context) bool {
		return strings.Contains(w.step(group, name), part)
	})
}
