package storetest

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"commander/store"
)

// Relay stands between a store and its database. While it is frozen the database takes
// connections and questions and answers nothing, as a server that was stopped or cut off does.
type Relay struct {
	mu     sync.Mutex    // protects the rest
	frozen chan struct{} // closed while nothing is frozen
	lose   []byte        // what the answer holds that is lost next; nil for none
}

// Through opens a store over the same database as another, by way of a relay.
func Through(t testing.TB, direct *store.Store) (*store.Store, *Relay) {
	t.Helper()
	r := &Relay{frozen: make(chan struct{})}
	close(r.frozen)
	config, err := pgxpool.ParseConfig(direct.Pool.Config().ConnString())
	if err != nil {
		t.Fatalf("read the address of the database: %v", err)
	}
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		server, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		near, far := net.Pipe()
		go r.copy(answers{passing{far, r}}, far, server)
		go r.copy(passing{server, r}, server, far)
		return near, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatalf("open the database: %v", err)
	}
	t.Cleanup(func() {
		r.Thaw()
		pool.Close()
	})
	return store.On(pool, direct.Keys), r
}

// Freeze lets nothing more pass until Thaw.
func (r *Relay) Freeze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frozen = make(chan struct{})
}

// Thaw lets pass what was held up, and what follows.
func (r *Relay) Thaw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.frozen:
	default:
		close(r.frozen)
	}
}

// LoseAnswer cuts the connection instead of passing on the next answer to a command with a tag, such
// as "SELECT 1". The server sends it after its commit: what was asked for is done, and who asked does
// not learn of it.
func (r *Relay) LoseAnswer(tag string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lose = append([]byte(tag), 0)
}

// Lost reports whether the answer was lost.
func (r *Relay) Lost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lose == nil
}

func (r *Relay) copy(through io.Writer, to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	_, _ = io.Copy(through, from) // ends with the connection
}

// answers passes what a server says.
type answers struct{ passing }

func (a answers) Write(b []byte) (int, error) {
	a.relay.mu.Lock()
	lost := a.relay.lose != nil && bytes.Contains(b, a.relay.lose)
	if lost {
		a.relay.lose = nil
	}
	a.relay.mu.Unlock()
	if lost {
		return 0, net.ErrClosed
	}
	return a.passing.Write(b)
}

// passing writes when the relay is not frozen.
type passing struct {
	io.Writer
	relay *Relay
}

func (p passing) Write(b []byte) (int, error) {
	p.relay.mu.Lock()
	wait := p.relay.frozen
	p.relay.mu.Unlock()
	<-wait
	return p.Writer.Write(b)
}
