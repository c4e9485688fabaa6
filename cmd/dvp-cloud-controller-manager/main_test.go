package main

import (
	"bytes"
	"context"
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
	if os.Getenv("BE_DVP_CCM") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, kubeconfig string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	output := new(bytes.Buffer)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "BE_DVP_CCM=1", "DVP_KUBERNETES_CONFIG_BASE64="+kubeconfig, "DVP_NAMESPACE=project", "CLUSTER_UUID=uuid")
	cmd.Stdout, cmd.Stderr = output, output
	return cmd, output
}

func TestMistakesInFlags(t *testing.T) {
	t.Parallel()
	for args, words := range map[string]string{
		"--cloud-provider=aws":           "cloud-provider",
		"--configure-cloud-routes=true":  "no routes",
		"--controllers=cloud-node,other": `no "other"`,
		"--node-monitor-period=0s":       "positive",
	} {
		cmd, output := program(t, "any", args)
		if err := cmd.Run(); err == nil || !strings.Contains(output.String(), words) {
			t.Errorf("%s: got %v, %s, want %q", args, err, output, words)
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

// As Deckhouse starts it: with its flags, as the leader of its replicas.
func TestLeadsAndStops(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
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
	health := free(t)
	cmd, output := program(t, string(kubeconfig), "--cloud-provider=dvp", "--allow-untagged-cloud=true", "--configure-cloud-routes=false",
		"--controllers=cloud-node,cloud-node-lifecycle,service-lb-controller", "--v=4",
		"--kubeconfig", path, "--metrics-address", free(t), "--health-probe-bind-address", health)
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
	tick, deadline := time.NewTicker(50*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		lease, err := client.CoordinationV1().Leases("kube-system").Get(t.Context(), "dvp-cloud-controller-manager", metav1.GetOptions{})
		if err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
			break
		}
		select {
		case <-deadline:
			t.Fatal("nobody leads")
		case <-tick.C:
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+health+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("got %s, want it to be well", answer.Status)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
