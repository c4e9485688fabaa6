package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// demo is the whole product on this machine, as `make demo` starts it.
type demo struct {
	child      *child
	url, token string
	client     *http.Client
}

// demoBound covers the building of Kubernetes on a machine that never did it.
const demoBound = 40 * time.Minute

// theDemo starts the demo when it is first needed and ends the site, if that is there.
func (b *bench) theDemo(ctx context.Context) (*demo, error) {
	if b.demo != nil {
		return b.demo, nil
	}
	if err := b.closeSite(); err != nil {
		return nil, err
	}
	port, err := freePort(3)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, "demo")
	d := &demo{}
	b.demo = d // whatever was started is stopped at the end
	cmd := exec.Command(b.program("demo"), "--port="+strconv.Itoa(port), "--dir="+dir, "--bin="+b.Bin, "--cache="+b.Cache)
	cmd.Dir = ".." // where it finds the sources of programs that are not ours
	cmd.Env = append(os.Environ(), "COMMANDER_DATABASE_URL=")
	d.child, err = b.launch("the demo", cmd)
	if err != nil {
		return nil, err
	}
	// Its screen, which ends with how to forget it, is the last thing it does.
	_, err = d.child.answers(ctx, 100*time.Millisecond, demoBound, func(context.Context) error {
		said, err := os.ReadFile(d.child.log)
		if err == nil && !strings.Contains(string(said), "demo-reset") {
			err = fmt.Errorf("it says: %s", said)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, d.readEnvironment(filepath.Join(dir, "env"))
}

func (d *demo) readEnvironment(file string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read address of the demo: %w", err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = value
	}
	authority, err := os.ReadFile(values["COMMANDER_CA"])
	if err != nil {
		return fmt.Errorf("read authority of the demo: %w", err)
	}
	d.url, d.token, d.client = values["COMMANDER_URL"], values["COMMANDER_TOKEN"], clientOf(authority)
	return nil
}

// closeDemo ends the demo as Ctrl-C does, with all clusters.
func (b *bench) closeDemo() error {
	d := b.demo
	b.demo = nil
	if d == nil {
		return nil
	}
	return d.child.stop(syscall.SIGINT)
}
