// Package e2e walks through the whole product as people do: the demo as a newcomer starts it, a
// real browser, real clusters of the lab, the REST API and kubectl.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// demo is a running demo with what it told.
type demo struct {
	root, bin, cache        string
	dir, url                string
	admin, viewer           string // passwords
	token, readToken, caPEM string
	cmd                     *exec.Cmd
	output                  *bytes.Buffer
	client                  *http.Client
}

var shared *demo

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ce2e")
	if err != nil {
		return complain(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// The database runs as another user when the demo runs as root.
	if err := os.Chmod(dir, 0o711); err != nil {
		return complain(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return complain(err)
	}
	bin := filepath.Join(dir, "bin")
	build := exec.Command("go", "build", "-o", bin+"/", "./cmd/commander", "./cmd/commander-agent", "./cmd/ampg-connector", "./cmd/dhctl", "./cmd/lab", "./cmd/demo")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return complain(fmt.Errorf("build the programs: %w\n%s", err, out))
	}
	if shared, err = startDemo(root, bin, filepath.Join(dir, "demo")); err != nil {
		return complain(err)
	}
	code := m.Run()
	if err := shared.stop(); err != nil {
		return complain(err)
	}
	return code
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}

// freePorts finds three ports in a row that are free now.
func freePorts() (int, error) {
	for range 50 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := first.Addr().(*net.TCPAddr).Port
		_ = first.Close()
		free := true
		for next := port; next < port+3; next++ {
			l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(next))
			if err != nil {
				free = false
				break
			}
			_ = l.Close()
		}
		if free {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no three free ports in a row")
}

// startBound covers the building of Kubernetes on a machine that never did it.
const startBound = 40 * time.Minute

func startDemo(root, bin, dir string) (*demo, error) {
	port, err := freePorts()
	if err != nil {
		return nil, err
	}
	d := &demo{root: root, bin: bin, cache: filepath.Join(root, ".cache"), dir: dir, output: &bytes.Buffer{}}
	d.cmd = exec.Command(filepath.Join(bin, "demo"), "--port="+strconv.Itoa(port), "--dir="+dir, "--bin="+bin, "--cache="+d.cache)
	d.cmd.Dir = root
	d.cmd.Env = append(os.Environ(), "COMMANDER_TASK_QUIET_LIMIT="+quietLimit.String(), "COMMANDER_DATABASE_URL=")
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.cmd.Stderr = d.cmd.Stdout
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan error, 1)
	go d.listen(bufio.NewScanner(out), ready)
	select {
	case err = <-ready:
	case <-time.After(startBound):
		err = fmt.Errorf("the demo was not ready in %s", startBound)
	}
	if err == nil {
		err = d.readEnvironment()
	}
	if err != nil {
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		return nil, fmt.Errorf("start the demo: %w\n%s", err, d.output)
	}
	return d, nil
}

// program is one of our own.
func (d *demo) program(name string) string { return filepath.Join(d.bin, name) }

var signIn = regexp.MustCompile(`(admin|viewer)@example\.com\s+(\S+)`)

// listen reads what the demo prints; it is ready when its screen is complete.
func (d *demo) listen(lines *bufio.Scanner, ready chan<- error) {
	told := false
	for lines.Scan() {
		line := lines.Text()
		d.output.WriteString(line + "\n")
		if found := signIn.FindStringSubmatch(line); found != nil {
			if found[1] == "admin" {
				d.admin = found[2]
			} else {
				d.viewer = found[2]
			}
		}
		if strings.Contains(line, "demo-reset") && !told {
			told = true
			ready <- nil
		}
	}
	if !told {
		ready <- fmt.Errorf("it ended: %v", d.cmd.Wait()) //nolint:errorlint // it may have ended well
	}
}

func (d *demo) readEnvironment() error {
	body, err := os.ReadFile(filepath.Join(d.dir, "env"))
	if err != nil {
		return err
	}
	values := map[string]string{}
	for line := range strings.Lines(string(body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "export ")), "=")
		values[name] = strings.Trim(value, `'"`)
	}
	d.url, d.token, d.readToken = values["COMMANDER_URL"], values["COMMANDER_TOKEN"], values["COMMANDER_READ_TOKEN"]
	pem, err := os.ReadFile(values["COMMANDER_CA"])
	if err != nil {
		return err
	}
	d.caPEM = string(pem)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	d.client = &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
	}
	return nil
}

// stop ends the demo as Ctrl-C does and looks for what it left behind.
func (d *demo) stop() error {
	family := descendants(d.cmd.Process.Pid)
	if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- d.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("the demo ended with %w:\n%s", err, d.output)
		}
	case <-time.After(2 * time.Minute):
		_ = d.cmd.Process.Kill()
		return fmt.Errorf("the demo did not end:\n%s", d.output)
	}
	for pid, started := range family {
		if startOf(pid) == started {
			return fmt.Errorf("process %d outlived the demo: %s", pid, commandOf(pid))
		}
	}
	return nil
}

// await looks until a thing is so.
func await(t *testing.T, what string, bound time.Duration, so func(ctx context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		ok, err := so(ctx)
		if ok {
			return
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited %s in vain until %s (last: %v)", bound, what, last)
		case <-tick.C:
		}
	}
}
