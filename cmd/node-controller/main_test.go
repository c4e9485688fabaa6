package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
	"commander/internal/kubetest"
)

// TestMain lets this binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("NODE_CONTROLLER_TEST_PROGRAM") != "" {
		main()
	}
	os.Exit(m.Run())
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

// Two replicas against a real API server: one leads, and when it ends the other takes over.
func TestReplicas(t *testing.T) {
	config, c := apitest.Start(t)
	server := kubetest.Start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}})))
	dir := t.TempDir()
	cert, key, _ := server.Serving(t, "node-controller-webhook")
	must(os.WriteFile(filepath.Join(dir, "tls.crt"), cert, 0o600))
	must(os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	kubeconfig := filepath.Join(dir, "kubeconfig")
	must(clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Token: config.BearerToken}},
		Contexts:  map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}}, CurrentContext: "x",
	}, kubeconfig))
	replica := func() (*exec.Cmd, *strings.Builder) {
		t.Helper()
		health := free(t)
		command := exec.Command(os.Args[0], "--kubeconfig="+kubeconfig, "--metrics-bind-address=0", fmt.Sprintf("--webhook-port=%d", free(t)),
			fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health), "--webhook-cert-dir="+dir)
		said := new(strings.Builder)
		command.Env, command.Stderr, command.Stdout = append(os.Environ(), "NODE_CONTROLLER_TEST_PROGRAM=1"), said, said
		command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		must(command.Start())
		t.Cleanup(func() {
			_ = command.Process.Kill() // it may be over
			_ = command.Wait()         // likewise
			if t.Failed() {
				t.Logf("a replica said:\n%s", said)
			}
		})
		apitest.Eventually(t, "a replica is ready", func(ctx context.Context) bool {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", health), nil)
			must(err)
			answer, err := http.DefaultClient.Do(request)
			return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
		})
		return command, said
	}
	first, said := replica()
	watched := func(group string, nodes int32) {
		t.Helper()
		apitest.Eventually(t, "the status of "+group, func(ctx context.Context) bool {
			found := new(v1.NodeGroup)
			return c.Get(ctx, client.ObjectKey{Name: group}, found) == nil && found.Status.Nodes == nodes
		})
	}
	add := func(group, node string) {
		t.Helper()
		must(client.IgnoreAlreadyExists(c.Create(t.Context(), &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: group}, Spec: v1.NodeGroupSpec{
			NodeType: v1.CloudPermanent, NodeGroupSettings: v1.NodeGroupSettings{NodeTemplate: &v1.NodeTemplate{Labels: map[string]string{"role": group}}},
		}})))
		must(c.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{api.LabelGroup: group}}}))
	}
	add("roles", "one")
	watched("roles", 1)
	apitest.Eventually(t, "the template is on the node", func(ctx context.Context) bool {
		node := new(corev1.Node)
		return c.Get(ctx, client.ObjectKey{Name: "one"}, node) == nil && node.Labels["role"] == "roles"
	})
	second, _ := replica()
	must(first.Process.Signal(syscall.SIGTERM))
	if err := first.Wait(); err != nil {
		t.Fatalf("the leader ended with %v:\n%s", err, said)
	}
	add("roles", "two")
	watched("roles", 2)
	must(second.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- second.Wait() }()
	select {
	case err := <-ended:
		must(err)
	case <-time.After(time.Minute):
		t.Fatal("the second replica does not end")
	}
}
