package dhctl_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"commander/agents/dhctl"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/kube"
	"commander/agents/dhctl/worldtest"
	"commander/internal/kubetest"
)

const (
	foreign = "11111111-9f0d-4f8e-8d0c-0a7d4a1b2c3d" // a cluster that somebody else made
	agent   = `
apiVersion: deckhouse.io/v1alpha1
kind: ModuleConfig
metadata: {name: commander-agent}
spec: {enabled: true, settings: {commanderUrl: "https://localhost:8443", token: secret}}
`
)

func attach(t *testing.T, c pb.DHCTLClient, as, kubeconfig string, scanOnly bool) ([]string, *pb.CommanderAttachResult) {
	t.Helper()
	s, err := c.CommanderAttach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	walk, m := ask(t, s,
		&pb.CommanderAttachRequest{Message: &pb.CommanderAttachRequest_Start{Start: &pb.CommanderAttachStart{
			ConnectionConfig: kubeconfig, ScanOnly: &scanOnly, ResourcesTemplate: agent,
			Options: &pb.CommanderAttachStartOptions{CommanderMode: true, CommanderUuid: as},
		}}},
		&pb.CommanderAttachRequest{Message: &pb.CommanderAttachRequest_Continue{Continue: &pb.CommanderAttachContinue{Continue: pb.Continue_CONTINUE_NEXT_PHASE}}},
		func(m *pb.CommanderAttachResponse) (string, bool, bool) {
			return m.GetPhaseEnd().GetNextPhase(), m.GetPhaseEnd() != nil, m.GetResult() != nil
		})
	return walk, m.GetResult()
}

func detach(t *testing.T, c pb.DHCTLClient, as, cluster, state string) *pb.CommanderDetachResult {
	t.Helper()
	s, err := c.CommanderDetach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, m := ask(t, s,
		&pb.CommanderDetachRequest{Message: &pb.CommanderDetachRequest_Start{Start: &pb.CommanderDetachStart{
			ClusterConfig: cluster, State: state, Options: &pb.CommanderDetachStartOptions{CommanderMode: true, CommanderUuid: as},
		}}}, nil,
		func(m *pb.CommanderDetachResponse) (string, bool, bool) { return "", false, m.GetResult() != nil })
	return m.GetResult()
}

func found(t *testing.T, r *pb.CommanderAttachResult) dhctl.AttachResult {
	t.Helper()
	var out dhctl.AttachResult
	if err := json.Unmarshal([]byte(r.GetResult()), &out); err != nil || out.Actual == nil {
		t.Fatalf("got result %q, %v", r.GetResult(), err)
	}
	return out
}

func TestAttachTakesAClusterOverAndDetachLetsItGo(t *testing.T) {
	t.Parallel()
	world := worldtest.World{Dir: t.TempDir()}
	client := server(t, world, 0)
	if err := world.Put(foreign, &worldtest.Cluster{Version: "1.36", Fixed: "10.3.0.0/16"}); err != nil {
		t.Fatal(err)
	}
	there := func() *worldtest.Cluster {
		t.Helper()
		c, err := world.Cluster(foreign)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	walk, looked := attach(t, client, id, foreign, true)
	if looked.GetErr() != "" || !slices.Equal(walk, []string{"Scan", ""}) || there().Owner != "" || there().Agent != "" {
		t.Fatalf("a look: got %v, %q and %+v, want that nothing is touched", walk, looked.GetErr(), there())
	}
	walk, joined := attach(t, client, id, foreign, false)
	if joined.GetErr() != "" || !slices.Equal(walk, []string{"Scan", "Capture", "Check", ""}) {
		t.Fatalf("attachment: got %v, %q", walk, joined.GetErr())
	}
	documents := found(t, joined)
	if documents.Warning != "" || documents.KubernetesVersion != "1.36" || !strings.Contains(documents.Actual.Cluster, "podSubnetCIDR: 10.3.0.0/16") {
		t.Errorf("what was found: got %+v", documents)
	}
	if there().Owner != id || there().Agent != "https://localhost:8443 secret" || there().Docs[0] != documents.Actual.Cluster {
		t.Errorf("the cluster: got %+v, want the mark, the agent and the documents", there())
	}
	_, another := attach(t, client, "22222222-9f0d-4f8e-8d0c-0a7d4a1b2c3d", foreign, false)
	if !strings.Contains(another.GetErr(), "managed by another Commander") || there().Owner != id {
		t.Errorf("by another: got %q", another.GetErr())
	}
	if r := detach(t, client, id, documents.Actual.Cluster, joined.GetState()); r.GetErr() != "" || there().Owner != "" || there().Agent != "" || there().Version != "1.36" {
		t.Errorf("after the detachment: got %q and %+v, want a cluster that runs and is nobody's", r.GetErr(), there())
	}
	if _, again := attach(t, client, "22222222-9f0d-4f8e-8d0c-0a7d4a1b2c3d", foreign, false); again.GetErr() != "" {
		t.Errorf("again: got %q", again.GetErr())
	}
}

func TestAFailedCheckIsAWarning(t *testing.T) {
	t.Parallel()
	world := worldtest.World{Dir: t.TempDir()}
	client := server(t, world, 0)
	broken := "apiVersion: deckhouse.io/v1\nkind: ClusterConfiguration\nclusterType: Static\nkubernetesVersion: \"1.35\"\npodSubnetCIDR: 10.1.0.0/16\nserviceSubnetCIDR: 10.2.0.0/16\n"
	if err := world.Put(foreign, &worldtest.Cluster{Version: "1.36", Docs: [2]string{broken, ""}}); err != nil {
		t.Fatal(err)
	}
	_, joined := attach(t, client, id, foreign, false)
	if joined.GetErr() != "" || !strings.Contains(found(t, joined).Warning, "OutOfSync") {
		t.Errorf("got %q and %+v, want a warning alone", joined.GetErr(), found(t, joined))
	}
}

// host is a place that runs agents, as the lab is one.
type host struct {
	worldtest.World
	kubeconfig *string
}

func (h host) EnsureGuestAgent(_ context.Context, _ string, kubeconfig []byte, _, _, _ string) error {
	*h.kubeconfig = string(kubeconfig)
	return nil
}

// TestAttachOfARealControlPlane takes over one that nobody's installer made.
func TestAttachOfARealControlPlane(t *testing.T) {
	t.Parallel()
	plane := kubetest.Start(t)
	reached := ""
	client := serveReal(t, "", map[string]dhctl.Engine{"World": host{worldtest.World{Dir: t.TempDir()}, &reached}})
	api := kubernetes.NewForConfigOrDie(plane.Config)
	mark := func() string {
		m, err := api.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "d8-commander-uuid", metav1.GetOptions{})
		if err != nil {
			return ""
		}
		return m.Data["commander-uuid"]
	}
	kubeconfig := kubeconfigOf(t, plane.Config)
	_, joined := attach(t, client, id, kubeconfig, false)
	if joined.GetErr() != "" || mark() != id || reached == "" {
		t.Fatalf("attachment: got %q, mark %q", joined.GetErr(), mark())
	}
	documents := found(t, joined)
	if documents.Warning != "" || !strings.Contains(documents.Actual.Cluster, `kubernetesVersion: "`+documents.KubernetesVersion+`"`) {
		t.Errorf("what was found: got %+v", documents)
	}
	if r := detach(t, client, id, documents.Actual.Cluster, joined.GetState()); r.GetErr() != "" || mark() != "" {
		t.Errorf("detachment: got %q, mark %q", r.GetErr(), mark())
	}
	if _, err := api.CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{}); err != nil {
		t.Errorf("the cluster does not run on: %v", err)
	}
	evil := strings.Replace(kubeconfig, "  user:\n", "  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/true, interactiveMode: Never}\n", 1)
	if _, refused := attach(t, client, id, evil, false); !strings.Contains(refused.GetErr(), "not allowed") {
		t.Errorf("a kubeconfig that names a program: got %q", refused.GetErr())
	}
}

// serveReal is a client of a server that reaches real API servers.
func serveReal(t *testing.T, agentImage string, engines map[string]dhctl.Engine) pb.DHCTLClient {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	g := grpc.NewServer(grpc.WaitForHandlers(true))
	pb.RegisterDHCTLServer(g, &dhctl.Server{
		Engines: engines, AgentImage: agentImage,
		Connect:  func(kubeconfig []byte) (dhctl.API, error) { return kube.Open(kubeconfig) },
		CacheDir: t.TempDir(), LockDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:x", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		g.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return pb.NewDHCTLClient(conn)
}

// kubeconfigOf writes down how a control plane is reached.
func kubeconfigOf(t *testing.T, c *rest.Config) string {
	t.Helper()
	c = rest.CopyConfig(c)
	if err := rest.LoadTLSFiles(c); err != nil {
		t.Fatal(err)
	}
	config := api.NewConfig()
	config.Clusters["x"] = &api.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData}
	config.AuthInfos["x"] = &api.AuthInfo{ClientCertificateData: c.CertData, ClientKeyData: c.KeyData, Token: c.BearerToken}
	config.Contexts["x"] = &api.Context{Cluster: "x", AuthInfo: "x"}
	config.CurrentContext = "x"
	out, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
