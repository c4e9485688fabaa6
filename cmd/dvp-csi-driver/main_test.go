package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// The test binary is the program when it is started so.
func TestMain(m *testing.M) {
	if os.Getenv("BE_DVP_CSI_DRIVER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

const kubeconfig = `{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {"token": "t"}}]}`

func command(t *testing.T, env ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	output := new(bytes.Buffer)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stdout, cmd.Stderr = slices.Concat(env, []string{"BE_DVP_CSI_DRIVER=1"}), output, output
	return cmd, output
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	all := []string{"DVP_KUBERNETES_CONFIG_BASE64=" + kubeconfig, "DVP_NAMESPACE=project", "CLUSTER_UUID=uuid", "NODE_ID=node"}
	for i, one := range all {
		cmd, output := command(t, append(append([]string{}, all[:i]...), all[i+1:]...)...)
		name, _, _ := strings.Cut(one, "=")
		if err := cmd.Run(); err == nil || !strings.Contains(output.String(), name) {
			t.Errorf("without %s: got %v, %s", name, err, output)
		}
	}
}

// The driver answers who it is before DVP answers, and ends when it is told to.
func TestServesAndStops(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "csi") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := "unix://" + filepath.Join(dir, "csi.sock")
	cmd, output := command(t, "DVP_KUBERNETES_CONFIG_BASE64="+kubeconfig, "DVP_NAMESPACE=project", "CLUSTER_UUID=uuid", "NODE_ID=node")
	cmd.Args = append(cmd.Args, "--endpoint", socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got, err := csipb.NewIdentityClient(conn).GetPluginInfo(t.Context(), &csipb.GetPluginInfoRequest{}, grpc.WaitForReady(true))
	if err != nil || got.Name != "csi.dvp.deckhouse.io" {
		t.Errorf("got %v, %v, want its name", got, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("stop: %v: %s", err, output)
	}
}
