package tunnel_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	"golang.org/x/net/nettest"
	"golang.org/x/sync/errgroup"

	"commander/agents/tunnel"
)

func TestStreamIsAConn(t *testing.T) {
	t.Parallel()
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		client, server := pair(t, tunnel.Options{})
		a, b := streamPair(t, server, client)
		return a, b, func() { _ = a.Close(); _ = b.Close() }, nil
	})
}

// echo answers each stream with what it sends, until the session ends.
func echo(t *testing.T, s *tunnel.Session) {
	t.Helper()
	var owned sync.WaitGroup
	owned.Go(func() {
		for {
			st, err := s.Accept(t.Context())
			if err != nil {
				return
			}
			owned.Go(func() {
				defer st.Close()
				_, _ = io.Copy(st, st)
				_ = st.CloseWrite()
			})
		}
	})
	t.Cleanup(owned.Wait)
}

func TestManyStreamsEchoRandomSizes(t *testing.T) {
	t.Parallel()
	client, server := pair(t, tunnel.Options{})
	echo(t, client)
	echo(t, server)
	var g errgroup.Group
	for i := range 64 {
		from := []*tunnel.Session{client, server}[i%2]
		g.Go(func() error {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			sent := make([]byte, rnd.IntN(700_000))
			for j := range sent {
				sent[j] = byte(rnd.Uint32())
			}
			st, err := from.Open(t.Context(), "echo")
			if err != nil {
				return err
			}
			defer st.Close()
			var write errgroup.Group
			write.Go(func() error {
				for rest := sent; len(rest) > 0; {
					n := min(len(rest), 1+rnd.IntN(50_000))
					if _, err := st.Write(rest[:n]); err != nil {
						return err
					}
					rest = rest[n:]
				}
				return st.CloseWrite()
			})
			got, err := io.ReadAll(st)
			if err := errors.Join(err, write.Wait()); err != nil {
				return err
			}
			if sha256.Sum256(got) != sha256.Sum256(sent) {
				return fmt.Errorf("stream %d: got %d bytes back that differ from the %d sent", i, len(got), len(sent))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// A stream that nobody reads takes one window and then waits; another stream of the same session
// carries many times that meanwhile.
func TestSlowReaderHoldsUpOnlyItself(t *testing.T) {
	t.Parallel()
	const window = tunnel.InitialWindow
	client, server := pair(t, tunnel.Options{Window: window})
	slow, unread := streamPair(t, server, client)
	quick, read := streamPair(t, server, client)

	stuck := make(chan error, 1)
	payload := bytes.Repeat([]byte("s"), 4*window)
	go func() {
		_, err := slow.Write(payload)
		stuck <- err
	}()
	var g errgroup.Group
	g.Go(func() error {
		for range 64 {
			if _, err := quick.Write(payload[:window]); err != nil {
				return err
			}
		}
		return quick.CloseWrite()
	})
	n, err := io.Copy(io.Discard, read)
	if err := errors.Join(err, g.Wait()); err != nil || n != 64*window {
		t.Fatalf("quick stream: got %d bytes and error %v, want %d", n, err, 64*window)
	}
	select {
	case err := <-stuck:
		t.Fatalf("a write of four windows returned (%v) although nobody read", err)
	default:
	}
	got := make([]byte, len(payload))
	if _, err := io.ReadFull(unread, got); err != nil || !bytes.Equal(got, payload) {
		t.Fatalf("slow stream, once read: error %v", err)
	}
	if err := <-stuck; err != nil {
		t.Fatal(err)
	}
}

func TestHalfCloseLetsTheAnswerPass(t *testing.T) {
	t.Parallel()
	client, server := pair(t, tunnel.Options{})
	a, b := streamPair(t, client, server)
	if _, err := io.WriteString(a, "question"); err != nil {
		t.Fatal(err)
	}
	if err := a.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(a, "more"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after fin: got %v, want net.ErrClosed", err)
	}
	if got, err := io.ReadAll(b); string(got) != "question" || err != nil {
		t.Fatalf("got %q and %v, want the question and its end", got, err)
	}
	if _, err := io.WriteString(b, "answer"); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(a); string(got) != "answer" || err != nil {
		t.Fatalf("got %q and %v, want the answer and its end", got, err)
	}
}

func TestCloseDeliversWhatWasWrittenAndStopsTheWriter(t *testing.T) {
	t.Parallel()
	client, server := pair(t, tunnel.Options{})
	a, b := streamPair(t, client, server)
	if _, err := io.WriteString(a, "last words"); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(b); string(got) != "last words" || err != nil {
		t.Fatalf("got %q and %v, want the last words and an end", got, err)
	}
	var reset *tunnel.ResetError
	_, err := io.Copy(b, zeros{}) // more than any window: somebody must stop it
	if !errors.As(err, &reset) {
		t.Errorf("write to a closed reader: got %v, want a reset", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestResetTellsTheReason(t *testing.T) {
	t.Parallel()
	client, server := pair(t, tunnel.Options{})
	a, b := streamPair(t, client, server)
	b.Reset("no such target" + strings.Repeat("é", 200))
	_, err := io.ReadAll(a)
	if err == nil || !strings.Contains(err.Error(), "no such target") {
		t.Errorf("got %v, want the reason", err)
	}
}

func TestStreamLimitRefusesAndRecovers(t *testing.T) {
	t.Parallel()
	dialed, acceptedWS := sockets(t)
	// The opener may hold more than the acceptor takes.
	client := tunnel.Client(dialed, tunnel.Options{MaxStreams: 3})
	server := tunnel.Server(acceptedWS, tunnel.Options{MaxStreams: 2})
	defer server.Close(websocket.CloseNormalClosure, "")
	defer client.Close(websocket.CloseNormalClosure, "")
	first, firstIn := streamPair(t, client, server)
	streamPair(t, client, server)
	refused, err := client.Open(t.Context(), "echo")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(refused); err == nil || !strings.Contains(err.Error(), tunnel.ErrTooManyStreams.Error()) {
		t.Errorf("third stream: got %v, want a refusal by the other end", err)
	}
	if _, err := client.Open(t.Context(), "echo"); !errors.Is(err, tunnel.ErrTooManyStreams) {
		t.Errorf("fourth stream: got %v, want ErrTooManyStreams", err)
	}
	_ = refused.Close()
	_ = firstIn.Close()
	_ = first.Close()
	streamPair(t, client, server)
	if got := server.Streams(); got != 2 {
		t.Errorf("streams held by the acceptor: got %d, want 2", got)
	}
}
