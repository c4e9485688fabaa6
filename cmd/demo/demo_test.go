package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newTestHome(t *testing.T) *home {
	t.Helper()
	h, err := newHome(filepath.Join(t.TempDir(), "demo"), t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.lock.Close() })
	return h
}

func TestCertificatesAreKeptUntilTheyDoNotFit(t *testing.T) {
	t.Parallel()
	h := newTestHome(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	make := func(now time.Time, names ...string) (ca, server string) {
		t.Helper()
		if err := h.pki(now, names); err != nil {
			t.Fatal(err)
		}
		read := func(name string) string {
			text, err := os.ReadFile(h.path("pki", name))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		return read("ca.crt"), read("server.crt")
	}
	ca, first := make(now, "localhost", "127.0.0.1")
	if _, again := make(now.AddDate(0, 3, 0), "localhost", "127.0.0.1"); again != first {
		t.Error("a good certificate was replaced")
	}
	_, named := make(now, "localhost", "127.0.0.1", "demo.test")
	if named == first {
		t.Error("a certificate without a wanted name was kept")
	}
	sameCA, renewed := make(now.AddDate(0, 11, 20), "localhost")
	if renewed == named || sameCA != ca {
		t.Error("an old certificate was kept, or the authority was not")
	}
	info, err := os.Stat(h.path("pki", "server.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key: %v, %v, want mode 0600", info, err)
	}

	pair, err := tls.LoadX509KeyPair(h.path("pki", "server.crt"), h.path("pki", "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ca))
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "localhost", CurrentTime: now.AddDate(0, 11, 21)}); err != nil {
		t.Errorf("verify: %v", err)
	}
}

func TestSecondDemoIsKeptOut(t *testing.T) {
	t.Parallel()
	h := newTestHome(t)
	other, err := newHome(h.dir, h.cache, h.bin)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.open(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Fatalf("got %v, want one that names our process", err)
	}
}

func TestSecretsAreKept(t *testing.T) {
	t.Parallel()
	h := newTestHome(t)
	first, err := h.secrets()
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.secrets()
	if err != nil || second != first || first.AdminPassword == first.ViewerPassword {
		t.Fatalf("got %+v, %v, want the same again: %+v", second, err, first)
	}
}

func TestTakenPortNamesItsHolder(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	err = needPort("127.0.0.1", port, 8443)
	name, _ := os.ReadFile("/proc/self/comm")
	want := fmt.Sprintf("port %d is taken by process %d (%s): choose another by `make demo PORT=9443`", port, os.Getpid(), strings.TrimSpace(string(name)))
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestSocketsFitUnderLongFolders(t *testing.T) {
	t.Parallel()
	h, err := newHome(filepath.Join(t.TempDir(), strings.Repeat("long", 30)), "", "")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := h.runDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.reset(); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{dir, h.dir} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("after reset %s is still there (%v)", gone, err)
		}
	}
	if len(dir)+longestName > maxSocket {
		t.Errorf("%s leaves no room for sockets", dir)
	}
}

func TestTokensAreKeptForTheSameDatabase(t *testing.T) {
	t.Parallel()
	h := newTestHome(t)
	own := newDemo(Config{Port: 8443, Host: "localhost"}, h)
	made := tokens{full: "f", readOnly: "r"}
	own.tokens = made
	if err := own.writeEnvironment(); err != nil {
		t.Fatal(err)
	}
	if got, ok := own.keptTokens(); !ok || got != made {
		t.Errorf("got %v, %v, want %v", got, ok, made)
	}
	other := newDemo(Config{DatabaseURL: "postgres://u:secret@h/db"}, h)
	if got, ok := other.keptTokens(); ok {
		t.Errorf("got %v of another database", got)
	}
	other.tokens = made
	if err := other.writeEnvironment(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(h.path("env")); err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("%s, %v: holds the password of the database", text, err)
	}
}

func TestSubjectIsTheOneDexGives(t *testing.T) {
	t.Parallel()
	// The example of Dex's documentation of static passwords.
	const id, want = "08a8684b-db88-4b73-90a9-3cd1661f5466", "CiQwOGE4Njg0Yi1kYjg4LTRiNzMtOTBhOS0zY2QxNjYxZjU0NjYSBWxvY2Fs"
	if got := subject(id); got != want {
		decoded, _ := base64.RawURLEncoding.DecodeString(got)
		t.Errorf("got %s (%q), want %s", got, decoded, want)
	}
}

// The test binary plays the supervisor in a process of its own, so that it ends its own
// descendants and not those of other tests.
const supervisorVariable = "COMMANDER_DEMO_TEST_SUPERVISOR"

func TestMain(m *testing.M) {
	if os.Getenv(supervisorVariable) == "1" {
		os.Exit(superviseAndEnd())
	}
	os.Exit(m.Run())
}

func superviseAndEnd() int {
	if err := adopt(); err != nil {
		fmt.Println(err)
		return 1
	}
	// An orphan in a session of its own that does not listen to SIGTERM, and one that does.
	script := `setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & setsid sh -c 'echo $$; exec sleep 1000' & wait $!`
	cmd := exec.Command("sh", "-c", script)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for ids, n := bufio.NewScanner(out), 0; n < 2 && ids.Scan(); n++ {
		fmt.Println(ids.Text()) // both run by then, with what they do about signals
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for len(descendants(os.Getpid())) < 4 { // sh, its two children, and the sleep of one
		<-tick.C
	}
	endDescendants(100 * time.Millisecond)
	return len(descendants(os.Getpid()))
}

func TestNoDescendantGetsAway(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), supervisorVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("supervisor: %v: %s", err, out)
	}
	pids := strings.Fields(string(out))
	if len(pids) != 2 {
		t.Fatalf("got %q, want two process ids", out)
	}
	for _, pid := range pids {
		if _, err := os.Stat(filepath.Join("/proc", pid)); !os.IsNotExist(err) {
			t.Errorf("process %s is still there (%v)", pid, err)
		}
	}
}
