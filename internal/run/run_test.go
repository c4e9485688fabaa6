package run

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		code int
		text string
	}{
		{"done", nil, 0, ""},
		{"help", fmt.Errorf("read flags: %w", flag.ErrHelp), 0, ""},
		{"failed", errors.New("open door: locked"), 1, "prog: open door: locked\n"},
		{"misuse", fmt.Errorf("start: %w", Misuse(errors.New("no key"))), 2, "prog: start: no key\n"},
		{"cancelled without a signal", context.Canceled, 1, "prog: context canceled\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code := execute("prog", nil, &out, func(context.Context, []string) error { return c.err })
			if code != c.code || out.String() != c.text {
				t.Fatalf("got code %d and %q, want %d and %q", code, out.String(), c.code, c.text)
			}
		})
	}
}

// The signal goes to the test's own process, so this test runs alone.
func TestSignalCancels(t *testing.T) {
	var out bytes.Buffer
	code := execute("prog", nil, &out, func(ctx context.Context, _ []string) error {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if code != 0 || out.Len() > 0 {
		t.Fatalf("got code %d and %q, want 0 and nothing", code, out.String())
	}
}

func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestGroupStopsAllAtFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	stopped := make(chan struct{})
	var g Group
	g.Add("quick", func(context.Context) error { return nil })
	g.Add("patient", func(ctx context.Context) error { defer close(stopped); return untilDone(ctx) })
	g.Add("worker", func(context.Context) error { return broken })
	err := g.Run(t.Context())
	if !errors.Is(err, broken) || err.Error() != "worker: broken" {
		t.Fatalf("got %v, want worker: broken", err)
	}
	<-stopped
}

func TestGroupEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var g Group
	g.Add("a", untilDone)
	g.Add("b", func(ctx context.Context) error { cancel(); return untilDone(ctx) })
	if err := g.Run(ctx); err != nil {
		t.Fatalf("got %v, want nil", err)
	}
}

func TestGroupNamesWhoDoesNotStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	g := Group{Bound: time.Millisecond}
	g.Add("deaf", func(context.Context) error { cancel(); <-release; return nil })
	g.Add("good", untilDone)
	err := g.Run(ctx)
	if err == nil || !strings.HasSuffix(err.Error(), "told to stop: deaf") {
		t.Fatalf("got %v, want one that names deaf alone", err)
	}
}

func TestServeAnswersAndStops(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "here")
	})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(server, listener)(ctx) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if string(body) != "here" {
		t.Fatalf("got %q, want here", body)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatalf("got %v, want nil", err)
	}
}
