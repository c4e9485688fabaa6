package connector_test

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"commander/agents/connector"
)

func TestDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := start(t, dir)
	for path, want := range map[string]os.FileMode{
		dir: 0o700, filepath.Join(r.dir, connector.TunnelSocket): 0o600, filepath.Join(r.dir, connector.APIServerSocket): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: got mode %o, want %o", filepath.Base(path), got, want)
		}
	}
}

func TestLivingConnectorIsNotReplaced(t *testing.T) {
	t.Parallel()
	r := start(t, shortDir(t))
	err := connector.Run(t.Context(), connector.Options{Cluster: "c1", Dir: r.dir, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "held by another connector, process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("second connector: got %v, want a refusal that names the process", err)
	}
	if _, err := r.health(t); err != nil {
		t.Errorf("first connector: %v", err)
	}
}

func TestStaleSocketsAreReplaced(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{connector.TunnelSocket, connector.APIServerSocket} {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, name)})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false) // as after a kill
		_ = l.Close()
	}
	start(t, dir)
}

func TestLongPathIsExplained(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	err := connector.Run(t.Context(), connector.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "too long for a unix socket") {
		t.Errorf("got %v, want the reason", err)
	}
}
