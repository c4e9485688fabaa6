package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
)

// TestMain lets this binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("FENCING_CONTROLLER_TEST_PROGRAM") != "" {
		main()
	}
	os.Exit(m.Run())
}

// The program leads on a real API server, and gives that up when it is told to end.
func TestLeadsAndEnds(t *testing.T) {
	config, c := apitest.Start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}})))
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	must(clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {Token: config.BearerToken}},
		Contexts:  map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}}, CurrentContext: "x",
	}, kubeconfig))
	command := exec.Command(os.Args[0], "--kubeconfig="+kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:0")
	said := new(strings.Builder)
	command.Env, command.Stderr, command.Stdout = append(os.Environ(), "FENCING_CONTROLLER_TEST_PROGRAM=1"), said, said
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() }) // it may be over
	holder := func(ctx context.Context) string {
		lease := new(coordinationv1.Lease)
		if c.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: election}, lease) != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	apitest.Eventually(t, "it leads", func(ctx context.Context) bool { return holder(ctx) != "" })
	must(command.Process.Signal(syscall.SIGTERM))
	if err := command.Wait(); err != nil {
		t.Fatalf("it ended with %v:\n%s", err, said)
	}
	if left := holder(t.Context()); left != "" {
		t.Errorf("%s still leads", left)
	}
}
