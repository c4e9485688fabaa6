// Package dhctltest plays a dhctl server by a script, for tests of those who call one.
package dhctltest

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	pb "commander/agents/dhctl/dhctlpb"
)

// Server is a scripted server on a unix socket. It notes what it is told.
type Server struct {
	// Address is what clients dial.
	Address string

	grpc *grpc.Server

	script func(Start) ([]Step, bool)

	mu      sync.Mutex // guards all below
	scripts [][]Step
	heard   Heard
	changed chan struct{} // closed and replaced when heard changes
}

// Heard is what callers said.
type Heard struct {
	Starts    []Start
	Continues []pb.Continue
	// Reasons are the texts beside the continues.
	Reasons []string
	Cancels int
	Alive   int
}

// Start is what an operation was asked with.
type Start struct {
	Operation, UUID, State, Approved         string
	ClusterConfig, ProviderConfig, Resources string
}

// Play starts a server that plays the steps to the first operation, whichever it is. It ends
// with the test.
func Play(t testing.TB, steps ...Step) *Server {
	t.Helper()
	// The test's own folder may be too deep for a socket.
	dir, err := os.MkdirTemp("", "play")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove socket of scripted dhctl server: %v", err)
		}
	})
	s := serve(t, filepath.Join(dir, "s"))
	s.scripts, s.script = [][]Step{steps}, s.next
	return s
}

// Direct starts a server on a socket that asks for the script of each operation. It ends with the
// test.
func Direct(t testing.TB, socket string, script func(Start) []Step) *Server {
	t.Helper()
	s := serve(t, socket)
	s.script = func(start Start) ([]Step, bool) { return script(start), true }
	return s
}

func serve(t testing.TB, socket string) *Server {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Address: "unix:" + socket, changed: make(chan struct{}), grpc: grpc.NewServer(grpc.WaitForHandlers(true))}
	pb.RegisterDHCTLServer(s.grpc, &actor{server: s})
	grpc_health_v1.RegisterHealthServer(s.grpc, health.NewServer())
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(l) }()
	t.Cleanup(func() {
		s.grpc.Stop()
		if err := <-served; err != nil {
			t.Errorf("scripted dhctl server: %v", err)
		}
	})
	return s
}

// Then adds the script of a further operation. An operation without a script fails the call.
func (s *Server) Then(steps ...Step) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = append(s.scripts, steps)
	return s
}

// Heard returns what callers said so far.
func (s *Server) Heard() Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// Await returns when what callers said is as wanted; the test's deadline ends it otherwise.
func (s *Server) Await(t testing.TB, wanted func(Heard) bool) {
	t.Helper()
	for {
		s.mu.Lock()
		heard, changed := s.heard, s.changed
		s.mu.Unlock()
		if wanted(heard) {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("waited in vain; heard only %+v", heard)
		}
	}
}

// note changes what was heard. Lists are only appended to, so that copies stay true.
func (s *Server) note(change func(*Heard)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.heard)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) next(Start) ([]Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.scripts) == 0 {
		return nil, false
	}
	steps := s.scripts[0]
	s.scripts = s.scripts[1:]
	return steps, true
}
