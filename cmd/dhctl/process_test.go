package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "commander/agents/dhctl/dhctlpb"
	client "commander/jobs/clustermanager/dhctl"
)

var discard = slog.New(slog.DiscardHandler)

func TestOperationHasAProcessOfItsOwn(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	c := y.client()
	k := newKeeper()
	y.fault("EnsureMachines", "hang")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var got client.Result
	go func() {
		r, err := c.Bootstrap(ctx, request(""), k.handler())
		got = r
		done <- err
	}()
	pid := <-k.pid
	if pid == os.Getpid() || syscall.Getpgrp() == must(syscall.Getpgid(pid)) {
		t.Errorf("process %d: want another one, in a group of its own", pid)
	}
	cancel()
	var failed *client.Failed
	if err := <-done; !errors.As(err, &failed) || !strings.Contains(failed.Text, "cancelled") || got.State == "" {
		t.Errorf("after cancel: got %+v, %v; want a cancellation with the state", got, err)
	}
	gone(t, pid)
	if left, _ := filepath.Glob(filepath.Join(y.dir, "dhctl-*", "op-*")); len(left) > 0 {
		t.Errorf("files of the operation: got %v, want none left", left)
	}
}

func TestKilledOperationGoesOnFromTheStoredState(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	c := y.client()
	k := newKeeper()
	y.fault("EnsureMachines", "die")
	var lost *client.Lost
	if _, err := c.Bootstrap(t.Context(), request(""), k.handler()); !errors.As(err, &lost) || status.Code(lost.Cause) != codes.Unavailable {
		t.Fatalf("killed operation: got %v, want the conversation lost", err)
	}
	y.fault("EnsureMachines", "")
	again := newKeeper()
	if _, err := c.Bootstrap(t.Context(), request(k.state), again.handler()); err != nil {
		t.Fatal(err)
	}
	if n := y.calls("EnsureBase"); n != 1 {
		t.Errorf("base made %d times, want once", n)
	}
	if again.ends[0] != "InstallDeckhouse" {
		t.Errorf("second attempt began after %q, want InstallDeckhouse", again.ends[0])
	}
}

func TestOperationEndsWhenItsServerIsKilled(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	k := newKeeper()
	y.fault("EnsureMachines", "hang")
	c := y.client()
	done := make(chan error, 1)
	go func() {
		_, err := c.Bootstrap(t.Context(), request(""), k.handler())
		done <- err
	}()
	pid := <-k.pid
	if err := syscall.Kill(parent(t, pid), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var lost *client.Lost
	if err := <-done; !errors.As(err, &lost) {
		t.Errorf("got %v, want the conversation lost", err)
	}
	gone(t, pid)
	y.fault("EnsureMachines", "")
	if _, err := y.client().Bootstrap(t.Context(), request(k.state), newKeeper().handler()); err != nil {
		t.Errorf("with the next server: %v", err)
	}
}

func TestDeafOperationIsKilled(t *testing.T) {
	t.Parallel()
	y := newYard(t, "--grace", "100ms")
	k := newKeeper()
	y.fault("EnsureMachines", "deaf")
	c := y.client()
	done := make(chan error, 1)
	go func() {
		_, err := c.Bootstrap(t.Context(), request(""), k.handler())
		done <- err
	}()
	pid := <-k.pid
	_ = c.Close()
	var lost *client.Lost
	if err := <-done; !errors.As(err, &lost) {
		t.Errorf("got %v, want the conversation lost", err)
	}
	y.fault("EnsureMachines", "")
	// The next attempt begins at once, and waits for the lock of the one that is dying.
	if _, err := y.client().Bootstrap(t.Context(), request(k.state), newKeeper().handler()); err != nil {
		t.Errorf("second attempt: %v", err)
	}
	gone(t, pid)
}

func TestOperationStopsWhenItsCallerIsSilent(t *testing.T) {
	t.Parallel()
	y := newYard(t, "--lost-limit", "4s", "--grace", "1s")
	k := newKeeper()
	y.fault("EnsureMachines", "hang")
	h := k.handler()
	h.OnAlive = func(context.Context) error { return errors.New("cannot record it") }
	_, err := y.client().Bootstrap(t.Context(), request(""), h)
	if err == nil || !strings.Contains(err.Error(), "silent for too long") {
		t.Errorf("got %v, want an end for silence", err)
	}
	gone(t, <-k.pid)
}

func TestSecondOperationOnTheClusterIsBusy(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	c := y.client()
	k := newKeeper()
	h := k.handler()
	h.OnPhaseEnd = func(context.Context, client.PhaseEnd) (client.Continue, error) {
		if _, err := c.Check(t.Context(), request(""), client.Handler{}); !errors.Is(err, client.ErrBusy) {
			t.Errorf("second operation: got %v, want busy", err)
		}
		return client.Stop, nil
	}
	if r, err := c.Bootstrap(t.Context(), request(""), h); err != nil || !r.Stopped {
		t.Errorf("first operation: got %+v, %v; want it stopped", r, err)
	}
}

func TestServerTurnsAwayMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	y := newYard(t, "--parallel", "1")
	c := y.client()
	h := newKeeper().handler()
	h.OnPhaseEnd = func(context.Context, client.PhaseEnd) (client.Continue, error) {
		_, err := c.Check(t.Context(), request(""), client.Handler{})
		var lost *client.Lost
		if !errors.As(err, &lost) || status.Code(lost.Cause) != codes.ResourceExhausted {
			t.Errorf("second operation: got %v, want ResourceExhausted", err)
		}
		return client.Stop, nil
	}
	if _, err := c.Bootstrap(t.Context(), request(""), h); err != nil {
		t.Error(err)
	}
}

func TestServersShareALivingServer(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	c := y.client()
	second := y.newServers()
	other, err := second.EnsureServer(t.Context(), filepath.Join(y.dir, "no such program"), "v1")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := c.Check(t.Context(), request(""), client.Handler{}); err != nil {
		t.Fatal(err)
	}
	seen, err := other.Status.GetStatus(t.Context(), &pb.GetStatusRequest{})
	if err != nil || seen.GetRequestsByMethod()["/dhctl.DHCTL/Check"] != 1 {
		t.Errorf("status through the second: got %v, %v; want the one check", seen, err)
	}
	socket, err := os.Stat(filepath.Join(y.dir, "dhctl-v1.sock"))
	if err != nil || socket.Mode().Perm() != 0o600 {
		t.Errorf("socket: got %v, %v; want it for its owner alone", socket.Mode(), err)
	}
	if _, err := second.EnsureServer(t.Context(), filepath.Join(y.dir, "no such program"), "v2"); err == nil {
		t.Error("a server without a program was ensured")
	}
}

func TestServerRefusesAnOpenPort(t *testing.T) {
	t.Parallel()
	err := start(t.Context(), []string{"server", "--listen", "tcp:127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), "mutual TLS") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// parent is the process that started another one.
func parent(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "PPid:")
	line, _, _ := strings.Cut(rest, "\n")
	return atoi(t, strings.TrimSpace(line))
}
