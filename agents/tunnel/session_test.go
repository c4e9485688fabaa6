package tunnel_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"commander/agents/tunnel"
)

func TestAbruptCloseEndsEverything(t *testing.T) {
	t.Parallel()
	dialed, accepted := sockets(t)
	client, server := tunnel.Client(dialed, tunnel.Options{}), tunnel.Server(accepted, tunnel.Options{})
	defer client.Close(websocket.CloseNormalClosure, "")
	defer server.Close(websocket.CloseNormalClosure, "")
	var g errgroup.Group
	for range 8 {
		reader, far := streamPair(t, server, client)
		writer, _ := streamPair(t, server, client)
		if _, err := io.WriteString(far, "before"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(reader, make([]byte, len("before"))); err != nil {
			t.Fatal(err)
		}
		g.Go(func() error {
			if _, err := reader.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
				return fmt.Errorf("a reader got %v, want an error that is not a regular end", err) //nolint:errorlint // there may be none
			}
			return nil
		})
		g.Go(func() error {
			if _, err := io.Copy(writer, zeros{}); err == nil {
				return errors.New("a writer ended without an error")
			}
			return nil
		})
	}
	g.Go(func() error {
		if _, err := client.Accept(t.Context()); err == nil {
			return errors.New("an accept ended without an error")
		}
		return nil
	})
	_ = dialed.NetConn().Close()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if err := waitDone(t, server); err == nil {
		t.Error("the session ended without an error")
	}
	if _, err := server.Open(t.Context(), "echo"); err == nil {
		t.Error("a stream opened on a dead session")
	}
}

func TestGoodbyeCarriesItsCode(t *testing.T) {
	t.Parallel()
	client, server := pair(t, tunnel.Options{})
	server.Close(websocket.CloseServiceRestart, "going away")
	var goodbye *websocket.CloseError
	if err := waitDone(t, client); !errors.As(err, &goodbye) || goodbye.Code != websocket.CloseServiceRestart {
		t.Errorf("client: got %v, want close code 1012", err)
	}
	if err := server.Err(); !errors.Is(err, tunnel.ErrSessionClosed) {
		t.Errorf("server: got %v, want ErrSessionClosed", err)
	}
}

func TestSilenceEndsASession(t *testing.T) {
	t.Parallel()
	_, accepted := sockets(t) // the other end neither reads nor writes, so no pong comes
	server := tunnel.Server(accepted, tunnel.Options{PingEvery: 5 * time.Millisecond, SilenceLimit: 50 * time.Millisecond})
	defer server.Close(websocket.CloseNormalClosure, "")
	if err := waitDone(t, server); err == nil {
		t.Error("the session ended without an error")
	}
}

func TestPingsKeepAnIdleSession(t *testing.T) {
	t.Parallel()
	// Only one end pings often; the other one's life hangs on hearing these pings.
	dialed, accepted := sockets(t)
	client := tunnel.Client(dialed, tunnel.Options{PingEvery: time.Hour, SilenceLimit: 2 * time.Second})
	server := tunnel.Server(accepted, tunnel.Options{PingEvery: 10 * time.Millisecond, SilenceLimit: 2 * time.Second})
	defer client.Close(websocket.CloseNormalClosure, "")
	defer server.Close(websocket.CloseNormalClosure, "")
	idle, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := client.Accept(idle); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the session ended: %v", err)
	}
	streamPair(t, client, server)
}

func raw(kind byte, id uint32, payload string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, id), payload...)
}

func TestViolationsEndTheSession(t *testing.T) {
	t.Parallel()
	open := raw(1, 1, "echo")
	cases := map[string][][]byte{
		"empty message":               {{}},
		"short header":                {{1, 0, 0}},
		"unknown type":                {raw(9, 1, "")},
		"stream zero":                 {raw(2, 0, "x")},
		"data for an unopened stream": {raw(2, 1, "x")},
		"data for our unopened id":    {raw(2, 2, "x")},
		"open with our parity":        {raw(1, 2, "echo")},
		"open twice":                  {open, open},
		"open with a smaller id":      {raw(1, 5, "echo"), raw(1, 3, "echo")},
		"open without a target":       {raw(1, 1, "")},
		"open with a long target":     {raw(1, 1, strings.Repeat("x", 256))},
		"open with broken UTF-8":      {raw(1, 1, "\xff")},
		"data without bytes":          {open, raw(2, 1, "")},
		"data beyond a frame":         {open, raw(2, 1, strings.Repeat("x", tunnel.MaxPayload+1))},
		"data beyond the window":      append([][]byte{open}, windowAndOne()...),
		"data after fin":              {open, raw(4, 1, ""), raw(2, 1, "x")},
		"fin twice":                   {open, raw(4, 1, ""), raw(4, 1, "")},
		"fin with payload":            {open, raw(4, 1, "x")},
		"window of nothing":           {open, raw(3, 1, "\x00\x00\x00\x00")},
		"window beyond all bounds":    {open, raw(3, 1, "\x40\x00\x00\x00")},
		"window with a short payload": {open, raw(3, 1, "\x01")},
		"long reset":                  {open, raw(5, 1, strings.Repeat("x", 257))},
	}
	for name, messages := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dialed, accepted := sockets(t)
			server := tunnel.Server(accepted, tunnel.Options{Window: tunnel.InitialWindow})
			defer server.Close(websocket.CloseNormalClosure, "")
			for _, m := range messages {
				_ = dialed.WriteMessage(websocket.BinaryMessage, m) // the session may be over by now
			}
			if err := waitDone(t, server); err == nil || !strings.Contains(err.Error(), "protocol violation") {
				t.Errorf("server: got %v, want a protocol violation", err)
			}
			_, _, err := dialed.ReadMessage()
			if !websocket.IsCloseError(err, websocket.CloseProtocolError, websocket.CloseMessageTooBig) {
				t.Errorf("offender: got %v, want close code 1002 or 1009", err)
			}
		})
	}
}

func windowAndOne() [][]byte {
	var out [][]byte
	for range tunnel.InitialWindow / tunnel.MaxPayload {
		out = append(out, raw(2, 1, strings.Repeat("x", tunnel.MaxPayload)))
	}
	return append(out, raw(2, 1, "x"))
}

func TestTextEndsTheSession(t *testing.T) {
	t.Parallel()
	dialed, accepted := sockets(t)
	server := tunnel.Server(accepted, tunnel.Options{})
	defer server.Close(websocket.CloseNormalClosure, "")
	if err := dialed.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := waitDone(t, server); err == nil || !strings.Contains(err.Error(), "text message") {
		t.Errorf("got %v, want a complaint about text", err)
	}
}

// Frames that crossed our reset are no violation.
func TestLateFramesAreIgnored(t *testing.T) {
	t.Parallel()
	dialed, accepted := sockets(t)
	server := tunnel.Server(accepted, tunnel.Options{})
	defer server.Close(websocket.CloseNormalClosure, "")
	if err := dialed.WriteMessage(websocket.BinaryMessage, raw(1, 1, "echo")); err != nil {
		t.Fatal(err)
	}
	st, err := server.Accept(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	st.Reset("enough")
	for _, m := range [][]byte{raw(2, 1, "x"), raw(3, 1, "\x00\x00\x00\x01"), raw(4, 1, ""), raw(5, 1, ""), raw(1, 3, "next")} {
		if err := dialed.WriteMessage(websocket.BinaryMessage, m); err != nil {
			t.Fatal(err)
		}
	}
	next, err := server.Accept(limit(t))
	if err != nil || next.Target() != "next" {
		t.Fatalf("next stream: %v", err)
	}
	_, got, err := dialed.ReadMessage()
	if want := raw(5, 1, "enough"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got frame %q and %v, want %q", got, err, want)
	}
}

// FuzzFrames feeds whole messages to a session: it may end it, and must neither panic nor hang.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{}, raw(1, 1, "echo"))
	f.Add(raw(1, 1, "echo"), raw(2, 1, "data"))
	f.Add(raw(1, 3, "echo"), raw(5, 3, "reset"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		dialed, accepted := sockets(t)
		server := tunnel.Server(accepted, tunnel.Options{})
		_ = dialed.WriteMessage(websocket.BinaryMessage, first)
		_ = dialed.WriteMessage(websocket.BinaryMessage, second)
		_ = dialed.WriteControl(websocket.CloseMessage, nil, time.Now().Add(time.Minute))
		if err := waitDone(t, server); err == nil {
			t.Error("the session ended without an error")
		}
		server.Close(websocket.CloseNormalClosure, "")
	})
}
