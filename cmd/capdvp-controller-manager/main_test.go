package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure"
	"commander/internal/kubetest"
)

// The test binary is the program when it is started so.
func TestMain(m *testing.M) {
	if os.Getenv("BE_CAPDVP") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, env []string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	output := new(bytes.Buffer)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = slices.Concat(env, []string{"BE_CAPDVP=1"}), output, output
	return cmd, output
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	all := []string{"DVP_KUBERNETES_CONFIG_BASE64=e30=", "DVP_NAMESPACE=project", "CLUSTER_UUID=uuid"}
	for i, one := range all {
		name, _, _ := strings.Cut(one, "=")
		cmd, output := program(t, slices.Delete(slices.Clone(all), i, i+1))
		if err := cmd.Run(); err == nil || !strings.Contains(output.String(), name) {
			t.Errorf("without %s: got %v, %s", name, err, output)
		}
	}
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestLeadsAnswersAndStops(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	namespace := server.Namespace(t)
	install(t, server)
	authority, err := os.ReadFile(server.Config.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: "c", Contexts: map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: server.Config.Host, CertificateAuthorityData: authority}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Token: server.Config.BearerToken}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	health, metrics := free(t), free(t)
	cmd, output := program(t, append(os.Environ(), "DVP_KUBERNETES_CONFIG_BASE64="+string(kubeconfig), "DVP_NAMESPACE="+namespace, "CLUSTER_UUID=uuid"),
		"--kubeconfig", path, "--leader-elect", "--leader-election-namespace", namespace, "--health-probe-bind-address", health, "--metrics-bind-address", metrics)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		}
		if t.Failed() {
			t.Log(output.String())
		}
	})
	kube, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	for what, so := range map[string]func() bool{
		"a leader": func() bool {
			lease, err := kube.CoordinationV1().Leases(namespace).Get(t.Context(), "70c82521.cluster.x-k8s.io", metav1.GetOptions{})
			return err == nil && lease.Spec.HolderIdentity != nil
		},
		"/healthz":            func() bool { return get(t, "http://"+health+"/healthz", "") == http.StatusOK },
		"/readyz":             func() bool { return get(t, "http://"+health+"/readyz", "") == http.StatusOK },
		"metrics for nobody":  func() bool { return get(t, "https://"+metrics+"/metrics", "") == http.StatusUnauthorized },
		"metrics for who may": func() bool { return get(t, "https://"+metrics+"/metrics", server.Config.BearerToken) == http.StatusOK },
	} {
		eventually(t, what, so)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// install makes the kinds that the controllers watch.
func install(t *testing.T, server *kubetest.Server) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	all, err := infrastructure.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for plural, kind := range map[string]string{"clusters": "Cluster", "machines": "Machine"} {
		all = append(all, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + ".cluster.x-k8s.io"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "cluster.x-k8s.io", Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1beta2", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
				}},
			},
		})
	}
	for _, crd := range all {
		if err := c.Create(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
	}
}

func get(t *testing.T, url, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	anybody := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // as Prometheus does
	answer, err := anybody.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}
