package kubetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// programs are what a control plane for tests is made of.
type programs struct{ etcd, apiserver program }

type program struct {
	path string
	name string // what it is called as: one binary is several components
}

// errMissing names the command that builds what is missing.
var errMissing = errors.New("etcd or kube-apiserver is missing: `make lab` builds both, or name a folder that has them by KUBEBUILDER_ASSETS")

// find looks where KUBEBUILDER_ASSETS says, then in the cache of the source tree.
func find() (programs, error) {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		p := programs{
			etcd:      program{filepath.Join(assets, "etcd"), "etcd"},
			apiserver: program{filepath.Join(assets, "kube-apiserver"), "kube-apiserver"},
		}
		if p.there() {
			return p, nil
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return programs{}, fmt.Errorf("find source tree: %w", err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		cache := filepath.Join(dir, ".cache")
		p := programs{
			etcd:      program{filepath.Join(cache, "etcd"), "etcd"},
			apiserver: program{filepath.Join(cache, "kubernetes", "v1.37", "kubernetes"), "kube-apiserver"},
		}
		if p.there() {
			return p, nil
		}
	}
	return programs{}, errMissing
}

func (p programs) there() bool {
	for _, path := range []string{p.etcd.path, p.apiserver.path} {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

// process is a started program.
type process struct {
	cmd    *exec.Cmd
	log    string
	exited chan struct{}
}

func launch(logFile string, p program, flags ...string) (*process, error) {
	log, err := os.Create(logFile)
	if err != nil {
		return nil, fmt.Errorf("make log of %s: %w", p.name, err)
	}
	defer log.Close()
	cmd := exec.Command(p.path, flags...)
	cmd.Args[0], cmd.Stdout, cmd.Stderr, cmd.Dir = p.name, log, log, filepath.Dir(logFile)
	// Killed with the test binary, however that ends, and not by Ctrl-C in a terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	started := &process{cmd: cmd, log: logFile, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(started.exited)
	}()
	return started, nil
}

func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // fails only if it is gone already
	<-p.exited
}

func (p *process) lastLog() string {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	const enough = 1500 // bytes: the last few lines
	return strings.TrimSpace(string(log[max(0, len(log)-enough):]))
}
