package process_test

import (
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"commander/jobs/clustermanager/process"
)

// TestMain is also the process that the tests keep: it listens on the socket that it is given.
func TestMain(m *testing.M) {
	switch socket := os.Getenv("KEEPER_TEST_SOCKET"); {
	case socket == "":
		os.Exit(m.Run())
	case len(os.Args) > 1 && os.Args[1] == "fail":
		os.Stderr.WriteString("no reason\n")
		os.Exit(3)
	default:
		listener, err := net.Listen("unix", socket)
		if err != nil {
			os.Exit(4)
		}
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM)
		<-stop
		_ = listener.Close()
	}
}

func TestKeeper(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	t.Setenv("KEEPER_TEST_SOCKET", socket)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := &process.Keeper{Log: slog.New(slog.DiscardHandler)}
	defer k.Close()
	spec := process.Spec{Name: "one", Socket: socket, Binary: self}
	if err := k.Ensure(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	other := &process.Keeper{Log: slog.New(slog.DiscardHandler)}
	if err := other.Ensure(t.Context(), spec); err != nil {
		t.Fatalf("a second keeper must adopt it: %v", err)
	}
	other.Close()
	if !process.Answers(socket) {
		t.Fatal("the second keeper ended a process that it did not start")
	}
	k.Stop("one")
	if process.Answers(socket) {
		t.Fatal("the process still answers after it was stopped")
	}
	if err := k.Ensure(t.Context(), spec); err != nil {
		t.Fatalf("start it again: %v", err)
	}
}

func TestAProcessThatEndsAtOnceIsExplained(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KEEPER_TEST_SOCKET", filepath.Join(dir, "s"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := &process.Keeper{Log: slog.New(slog.DiscardHandler)}
	defer k.Close()
	log := filepath.Join(dir, "log")
	err = k.Ensure(t.Context(), process.Spec{Name: "bad", Socket: filepath.Join(dir, "s"), Binary: self, Args: []string{"fail"}, LogFile: log})
	if err == nil || !strings.Contains(err.Error(), "ended at once") || !strings.Contains(err.Error(), log) {
		t.Errorf("got %v", err)
	}
}
