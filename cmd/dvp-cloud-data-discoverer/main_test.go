package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"commander/internal/kubetest"
)

// The test binary is the program when it is started so.
func TestMain(m *testing.M) {
	if os.Getenv("BE_DVP_CLOUD_DATA_DISCOVERER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// The program writes what DVP has, and shows its metrics to nobody but who may read them.
func TestWritesAndGuards(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	authority, err := os.ReadFile(server.Config.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	access := clientcmdapi.Config{
		CurrentContext: "c", Contexts: map[string]*clientcmdapi.Context{"c": {Cluster: "c", AuthInfo: "u"}},
		Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: server.Config.Host, CertificateAuthorityData: authority}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Token: server.Config.BearerToken}},
	}
	kubeconfig, err := clientcmd.Write(access)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	metrics, health, output := free(t), free(t), new(bytes.Buffer)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--metrics-address", metrics, "--listen-address", health, "--kubeconfig", path)
	cmd.Env = append(os.Environ(), "BE_DVP_CLOUD_DATA_DISCOVERER=1", "DVP_KUBERNETES_CONFIG_BASE64="+string(kubeconfig), "DVP_NAMESPACE="+server.Namespace(t), "CLUSTER_UUID=uuid")
	cmd.Stdout, cmd.Stderr = output, output
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
	client, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Secret", func() bool {
		_, err := client.CoreV1().Secrets("kube-system").Get(t.Context(), "d8-cloud-provider-discovery-data", metav1.GetOptions{})
		return err == nil
	})
	eventually(t, "health", func() bool { status, _ := get(t, "http://"+health+"/healthz", ""); return status == http.StatusOK })
	if status, text := get(t, "http://"+health+"/metrics", ""); status != http.StatusNotFound {
		t.Errorf("metrics beside the guard: got %d, %s", status, text)
	}
	if status, text := get(t, "https://"+metrics+"/metrics", ""); status != http.StatusUnauthorized {
		t.Errorf("metrics for anybody: got %d, %s", status, text)
	}
	status, text := get(t, "https://"+metrics+"/metrics", server.Config.BearerToken)
	for _, line := range []string{`cloud_data_discovery_cloud_request_error{type="discovery_data"} 0`, "cloud_data_discovery_update_resource_error 0"} {
		if status != http.StatusOK || !strings.Contains(text, line) {
			t.Errorf("got %d and no line %s in %s", status, line, text)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func get(t *testing.T, url, token string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // as Prometheus does
	answer, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(all)
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
