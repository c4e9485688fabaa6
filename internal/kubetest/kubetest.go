// Package kubetest gives tests a real Kubernetes API: etcd and kube-apiserver as processes of the
// test, without controllers and nodes.
package kubetest

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// startBound is how long a control plane may take to be ready; it takes about four seconds alone
// on two cores.
const startBound = 2 * time.Minute

// Server is a running control plane.
type Server struct {
	// Config reaches it as a member of system:masters.
	Config  *rest.Config
	dir     string
	clients *authority
	etcd    *process
	api     *process

	controllers *process // of StartAt only
}

// shared is the control plane that the tests of a binary have in common while any of them uses it.
var shared struct {
	sync.Mutex // protects users and server
	users      int
	server     *Server
}

// Start gives a test the control plane of its test binary. The first test that asks starts it, the
// last one that ends stops it; tests that run side by side share it and keep apart by Namespace.
func Start(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.users == 0 {
		s, err := start(loopback)
		if err != nil {
			t.Fatalf("start control plane: %v", err)
		}
		shared.server = s
	}
	shared.users++
	t.Cleanup(func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.users--; shared.users > 0 {
			return
		}
		if err := shared.server.stop(); err != nil {
			t.Errorf("stop control plane: %v", err)
		}
	})
	return shared.server
}

// loopback is where control planes answer whose users are on this machine.
const loopback = "127.0.0.1"

// StartOwn gives a test a control plane that no other test has, for one that is about what is
// outside of namespaces, such as nodes.
func StartOwn(t testing.TB) *Server {
	t.Helper()
	return startOwn(t, loopback)
}

func startOwn(t testing.TB, address string) *Server {
	t.Helper()
	s, err := start(address)
	if err != nil {
		t.Fatalf("start control plane at %s: %v", address, err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("stop control plane: %v", err)
		}
	})
	return s
}

// Namespace makes a namespace for one test and returns its name. It goes with the control plane.
func (s *Server) Namespace(t testing.TB) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("make namespace: %v", err)
	}
	return made.Name
}

func start(address string) (*Server, error) {
	programs, err := find()
	if err != nil {
		return nil, err
	}
	removeLeftovers()
	// Not t.TempDir: its path may be too long for etcd's sockets.
	dir, err := os.MkdirTemp("", fmt.Sprintf("kubetest-%d-", os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	s := &Server{dir: dir}
	ctx, cancel := context.WithTimeout(context.Background(), startBound)
	defer cancel()
	if err := s.launch(ctx, programs, address); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *Server) launch(ctx context.Context, p programs, address string) error {
	token, port, err := s.prepare(address)
	if err != nil {
		return err
	}
	if s.etcd, err = launch(s.file("etcd.log"), p.etcd, s.etcdFlags()...); err != nil {
		return err
	}
	if s.api, err = launch(s.file("apiserver.log"), p.apiserver, s.apiFlags(address, port)...); err != nil {
		return err
	}
	s.Config = &rest.Config{
		Host: fmt.Sprintf("https://%s:%d", address, port), BearerToken: token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: s.file("apiserver.crt")},
		QPS:             1000, Burst: 1000, // tests must not wait for the client's own limits
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = s.ready(ctx); err == nil {
			return nil
		}
		select {
		case <-s.etcd.exited:
			return fmt.Errorf("etcd ended: %s", s.etcd.lastLog())
		case <-s.api.exited:
			return fmt.Errorf("kube-apiserver ended: %s", s.api.lastLog())
		case <-ctx.Done():
			return fmt.Errorf("wait for kube-apiserver: %w; its log: %s", err, s.api.lastLog())
		case <-tick.C:
		}
	}
}

func (s *Server) ready(ctx context.Context) error {
	// The certificate appears late, empty at first. client-go keeps what it found in a file for minutes, so
	// that it gets the content here, and the file once it is whole.
	ca, err := os.ReadFile(s.Config.CAFile)
	if err != nil {
		return err
	}
	probe := rest.CopyConfig(s.Config)
	if probe.CAFile, probe.CAData = "", ca; !x509.NewCertPool().AppendCertsFromPEM(ca) {
		return errors.New("its certificate is not written yet")
	}
	client, err := rest.HTTPClientFor(probe)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Config.Host+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, strings.TrimSpace(string(body)))
	}
	return err
}

// stop ends the processes at once: nobody needs what they hold. The API server goes first, since
// it lingers without its store.
func (s *Server) stop() error {
	s.controllers.kill()
	s.api.kill()
	s.etcd.kill()
	return os.RemoveAll(s.dir)
}

func (s *Server) file(name string) string { return filepath.Join(s.dir, name) }
