package tunnel_test

import (
	"io"
	"testing"

	"github.com/gorilla/websocket"

	"commander/agents/tunnel"
)

// BenchmarkOneStream carries 1 MiB a round from one end to the other.
func BenchmarkOneStream(b *testing.B) {
	server, accepted := benchPair(b)
	st, err := server.Open(b.Context(), "sink")
	if err != nil {
		b.Fatal(err)
	}
	far := <-accepted
	payload := make([]byte, 1<<20)
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, far)
		read <- err
	}()
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := st.Write(payload); err != nil {
			b.Fatal(err)
		}
	}
	_ = st.CloseWrite()
	if err := <-read; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkOpenEcho opens a stream, sends a short question, waits for its echo and closes.
func BenchmarkOpenEcho(b *testing.B) {
	server, accepted := benchPair(b)
	go func() {
		for far := range accepted {
			_, _ = io.Copy(far, far)
			_ = far.Close()
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		st, err := server.Open(b.Context(), "echo")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.WriteString(st, "question"); err != nil {
			b.Fatal(err)
		}
		_ = st.CloseWrite()
		if got, err := io.ReadAll(st); err != nil || string(got) != "question" {
			b.Fatalf("got %q and %v", got, err)
		}
		_ = st.Close()
	}
}

func benchPair(b *testing.B) (*tunnel.Session, <-chan *tunnel.Stream) {
	b.Helper()
	dialed, taken := sockets(b)
	client, server := tunnel.Client(dialed, tunnel.Options{}), tunnel.Server(taken, tunnel.Options{})
	accepted := make(chan *tunnel.Stream)
	go func() {
		defer close(accepted)
		for {
			st, err := client.Accept(b.Context())
			if err != nil {
				return
			}
			accepted <- st
		}
	}()
	b.Cleanup(func() {
		client.Close(websocket.CloseNormalClosure, "")
		server.Close(websocket.CloseNormalClosure, "")
	})
	return server, accepted
}
