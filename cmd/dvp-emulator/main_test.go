package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/internal/kubetest"
)

// The test binary is the program when it is started so.
func TestMain(m *testing.M) {
	if os.Getenv("BE_DVP_EMULATOR") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// An emulator that was killed at any moment goes on where it was when it is started again.
func TestGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha2.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(server.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := writeKubeconfig(t, server.Config)
	namespace := server.Namespace(t)
	first := launch(t, kubeconfig)
	class := &v1alpha2.VirtualMachineClass{ObjectMeta: metav1.ObjectMeta{Name: "generic"}, Spec: v1alpha2.ClassSpec{CPU: v1alpha2.ClassCPU{Type: "Host"}}}
	eventually(t, "the emulator accepts a class", func(ctx context.Context) bool {
		err := c.Create(ctx, class)
		return err == nil || apierrors.IsAlreadyExists(err)
	})
	address := &v1alpha2.VirtualMachineIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}, Spec: v1alpha2.IPAddressSpec{Type: "Auto"}}
	if err := c.Create(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	if err := c.Create(t.Context(), &v1alpha2.VirtualMachineIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "b"}, Spec: address.Spec}); err == nil {
		t.Error("an object was accepted without the webhooks")
	}
	second := launch(t, kubeconfig)
	eventually(t, "the address is bound", func(ctx context.Context) bool {
		return c.Get(ctx, client.ObjectKeyFromObject(address), address) == nil && address.Status.Phase == v1alpha2.AddressPhaseBound
	})
	if err := second.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func launch(t *testing.T, kubeconfig string) *exec.Cmd {
	t.Helper()
	var output bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--kubeconfig", kubeconfig)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "BE_DVP_EMULATOR=1"), &output, &output
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
	return cmd
}

func writeKubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "dvp",
		Contexts:       map[string]*clientcmdapi.Context{"dvp": {Cluster: "dvp", AuthInfo: "admin"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"dvp": {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"admin": {Token: config.BearerToken}},
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func eventually(t *testing.T, what string, so func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) { return so(ctx), nil })
	if err != nil {
		t.Fatalf("waited in vain: %s", what)
	}
}

func TestMistakesInFlags(t *testing.T) {
	t.Parallel()
	for _, o := range []options{
		{MachineRanges: []string{"10.0.0.0"}, BalancerRange: "10.67.0.0/24"},
		{BalancerRange: "nothing"},
		{BalancerRange: "10.67.0.0/24", Delays: "begin=1s"},
		{MachineRanges: []string{"10.66.0.0/16", "10.68.0.0/16"}, BalancerRange: "10.67.0.0/24", Guests: "debian"},
		{BalancerRange: "10.67.0.0/24", Delays: "start=soon"},
	} {
		if _, err := o.settings(); err == nil || !strings.HasPrefix(err.Error(), "read ") && !strings.HasPrefix(err.Error(), "machine-ranges: ") {
			t.Errorf("%+v: got %v, want an error", o, err)
		}
	}
}
