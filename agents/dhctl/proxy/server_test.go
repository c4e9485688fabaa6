package proxy_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"commander/agents/dhctl"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// broken is an engine that panics when it reads documents.
type broken struct{ dhctl.Engine }

func (broken) Wanted(string, string) (dhctl.Infra, error) { panic("broken") }

// serve serves until the test ends; children are made of the command line.
func serve(t *testing.T, at proxy.Listener, command ...string) {
	t.Helper()
	s := &proxy.Server{
		Proxy: proxy.Proxy{
			Command: func(string, string) *exec.Cmd { return exec.Command(command[0], command[1:]...) },
			Dir:     t.TempDir(), Grace: time.Second, Silence: time.Minute, Log: slog.New(slog.DiscardHandler),
		},
		Validation: &dhctl.Validation{Engines: map[string]dhctl.Engine{"World": broken{}}},
		Parallel:   2, Shutdown: time.Second,
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, at) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func dial(t *testing.T, address string, creds credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// local serves on a socket and returns a connection to it, and the socket.
func local(t *testing.T, command ...string) (*grpc.ClientConn, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "proxy") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	at, err := proxy.Listen("unix:"+path, proxy.TLSFiles{})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, at, command...)
	return dial(t, "unix:"+path, insecure.NewCredentials()), path
}

func TestServerAnswersForItself(t *testing.T) {
	t.Parallel()
	conn, _ := local(t, "false")
	h, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || h.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health: got %v, %v; want serving", h, err)
	}
	catalog, err := pb.NewStatusClient(conn).GetPhaseCatalog(t.Context(), &pb.PhaseCatalogRequest{})
	if err != nil || catalog.GetPhases()["BaseInfra"].GetByLocale()["ru"] == "" {
		t.Errorf("catalog: got %v, %v; want titles in Russian", catalog, err)
	}
	r, err := pb.NewValidationClient(conn).ValidateResources(t.Context(), &pb.ValidateResourcesRequest{Config: "x: y"})
	if err != nil || !strings.Contains(r.GetErr(), "apiVersion") {
		t.Errorf("validation: got %v, %v; want an objection", r, err)
	}
	s, err := pb.NewStatusClient(conn).GetStatus(t.Context(), &pb.GetStatusRequest{})
	if err != nil || s.GetRequestsByMethod()["/dhctl.Validation/ValidateResources"] != 1 || s.GetRequestsInProgress() != 1 {
		t.Errorf("status: got %v, %v; want one validation, and this call in progress", s, err)
	}
}

func TestReflectionListsWhatIsProxiedToo(t *testing.T) {
	t.Parallel()
	conn, _ := local(t, "false")
	s, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	m, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, service := range m.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	for _, want := range []string{"dhctl.DHCTL", "dhctl.Validation", "dhctl.Status"} {
		if !slices.Contains(names, want) {
			t.Errorf("services: got %v, want %s among them", names, want)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("end of reflection: got %v, want EOF", err)
	}
}

func TestCallsThatFail(t *testing.T) {
	t.Parallel()
	conn, _ := local(t, "false")
	unknown, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/dhctl.DHCTL/Explode")
	if err == nil {
		err = unknown.RecvMsg(&pb.Logs{})
	}
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("unknown method: got %v, want Unimplemented", err)
	}
	_, err = pb.NewValidationClient(conn).ValidateProviderSpecificClusterConfig(t.Context(), &pb.ValidateProviderSpecificClusterConfigRequest{ClusterConfig: `
apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
cloud: {provider: World, prefix: blue}
podSubnetCIDR: 10.111.0.0/16
serviceSubnetCIDR: 10.222.0.0/16
kubernetesVersion: "1.37"
`})
	if status.Code(err) != codes.Internal {
		t.Errorf("panic: got %v, want Internal", err)
	}
	dead, err := pb.NewDHCTLClient(conn).Check(t.Context())
	if err == nil {
		_, err = dead.Recv()
	}
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("a child that ends at once: got %v, want Unavailable", err)
	}
}

func TestChildThatNeverServesEndsWithTheCall(t *testing.T) {
	t.Parallel()
	conn, _ := local(t, "cat") // it ends with its standard input
	ctx, cancel := context.WithCancel(t.Context())
	s, err := pb.NewDHCTLClient(conn).Check(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
	// That the child is gone is what the end of the server waits for.
}
