package apiserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/client-go/rest"

	"commander/agents/node/api/apitest"
	"commander/internal/clock"
	"commander/internal/kubetest"
)

// The API server comes up after ours: as when a control plane is installed, or rolls.
func TestStartsBeforeTheAPIServer(t *testing.T) {
	t.Parallel()
	config, _ := apitest.Start(t)
	server := kubetest.Start(t)
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := gate.Addr().String()
	if err := gate.Close(); err != nil { // nobody answers there now
		t.Fatal(err)
	}
	late := rest.CopyConfig(config)
	late.Host = "https://" + address
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key, ca := server.Serving(t, serviceName)
	for name, text := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := new(lines)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Listen: Listen{
				Listener: listener, CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"), Kubeconfig: kubeconfig(t, late),
			},
			Cluster: late, Templates: fstest.MapFS{}, Clock: clock.System{}, Log: slog.New(slog.NewTextHandler(log, nil)),
		})
	}()
	apitest.Eventually(t, "it tries again", func(context.Context) bool { return strings.Contains(log.String(), "trying again") })
	if gate, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	go forward(gate, strings.TrimPrefix(config.Host, "https://"))
	alive := &http.Client{Transport: &http.Transport{TLSClientConfig: trusting(ca)}}
	apitest.Eventually(t, "it answers", func(ctx context.Context) bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+listener.Addr().String()+"/livez", nil)
		if err != nil {
			return false
		}
		answer, err := alive.Do(request)
		if err != nil {
			return false
		}
		return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	})
	alive.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if err := gate.Close(); err != nil {
		t.Error(err)
	}
}

func trusting(ca []byte) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: pool, ServerName: serviceName}
}

// forward passes connections on until the listener is closed.
func forward(l net.Listener, to string) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer from.Close()
			conn, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer conn.Close()
			go func() { _, _ = io.Copy(conn, from) }()
			_, _ = io.Copy(from, conn)
		}()
	}
}
