package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"commander/fleet"
	"commander/store"
)

// gate stands between programs and their database and can be shut: then the database is away.
type gate struct {
	t       *testing.T
	address string // of the gate
	behind  string // of the database

	mu       sync.Mutex // protects the rest
	listener net.Listener
	conns    map[net.Conn]struct{}
}

// newGate opens a gate before a database and returns the address that leads through it.
func newGate(t *testing.T, database string) (*gate, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, address: "127.0.0.1:0", behind: u.Host}
	g.open()
	t.Cleanup(g.shut)
	u.Host = g.address
	return g, u.String()
}

func (g *gate) open() {
	g.t.Helper()
	listener, err := net.Listen("tcp", g.address)
	if err != nil {
		g.t.Fatal(err)
	}
	g.mu.Lock()
	g.listener, g.address, g.conns = listener, listener.Addr().String(), map[net.Conn]struct{}{}
	g.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go g.pass(conn)
		}
	}()
}

func (g *gate) pass(from net.Conn) {
	to, err := net.Dial("tcp", g.behind)
	if err != nil {
		_ = from.Close()
		return
	}
	g.mu.Lock()
	g.conns[from], g.conns[to] = struct{}{}, struct{}{}
	g.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(way[1], way[0])
			_, _ = way[0].Close(), way[1].Close()
		})
	}
	both.Wait()
}

// shut cuts every connection and lets no new one through.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.listener.Close()
	for conn := range g.conns {
		_ = conn.Close()
	}
}

// TestADatabaseThatGoesAway takes the database from the cluster manager and from the task checker
// in the middle of an installation, for longer than a task may be silent. Nothing is lost: no
// person has to do anything, and the task is never declared lost.
func TestADatabaseThatGoesAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	behind := s.url
	g, through := newGate(t, s.url)
	s.url = through
	s.start(shared.program("commander"), "task-checker", "--keys-dir="+s.path("keys"))
	s.manager()
	s.url = behind
	cluster, task, err := s.fleet.CreateCluster(t.Context(), fleet.System, s.fresh("patient", nil))
	if err != nil {
		t.Fatal(err)
	}
	await(t, "etcd of the cluster runs", time.Minute, func(context.Context) (bool, error) {
		return len(processesWith(cluster.ID.String(), "--data-dir")) > 0, nil
	})
	g.shut()
	away := time.Now()
	await(t, "the database was away for longer than a task may be silent", time.Minute, func(context.Context) (bool, error) {
		return time.Since(away) > quietLimit+quietLimit/2, nil
	})
	g.open()
	await(t, "the installation succeeds by itself", 2*time.Minute, func(ctx context.Context) (bool, error) {
		row, err := s.fleet.Store.Task(ctx, task.ID)
		if err != nil {
			return false, err
		}
		switch row.Task.Status {
		case store.TaskLost, store.TaskLostInCritical, store.TaskFailed:
			t.Fatalf("the task is %s: %s", row.Task.Status, row.Task.Error)
		}
		return row.Task.Status == store.TaskSucceeded, fmt.Errorf("it is %s, attempt %d", row.Task.Status, row.Task.Attempt)
	})
	_, gone, err := s.fleet.DeleteCluster(t.Context(), fleet.System, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the cluster is deleted", time.Minute, s.status(gone.ID)(store.TaskSucceeded))
}
