package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"commander/agents/lab/build"
)

// plane is the floor for clusters: etcd and kube-apiserver, with the settings of the lab and
// nothing beside them.
type plane struct {
	bench    *bench
	programs build.Programs
	token    string
}

func (b *bench) newPlane(ctx context.Context) (*plane, error) {
	source, err := filepath.Abs("../agents/lab")
	if err != nil {
		return nil, fmt.Errorf("find source of the lab: %w", err)
	}
	builder := build.Builder{Cache: b.Cache, Source: source, Log: func(line string) { say("%s", line) }}
	programs, err := builder.Ensure(ctx, build.Minors()[0])
	return &plane{bench: b, programs: programs, token: rand.Text()}, err
}

// running is a plane that is up.
type running struct {
	dir  string
	port int
	etcd *child
	api  *child
}

func (r *running) down(err *error) {
	end(r.api, err)
	end(r.etcd, err)
}

// once starts both with an empty folder and says after which time the API server was ready.
func (p *plane) once(ctx context.Context) (took time.Duration, err error) {
	r, err := p.up(ctx)
	if err != nil {
		return 0, err
	}
	took = time.Since(r.etcd.started)
	r.down(&err)
	return took, err
}

// up starts both with an empty folder and waits until the API server is ready.
func (p *plane) up(ctx context.Context) (r *running, err error) {
	p.bench.planes++
	r = &running{dir: filepath.Join(p.bench.dir, fmt.Sprintf("plane-%d", p.bench.planes))}
	defer func() {
		if err != nil {
			r.down(&err)
		}
	}()
	if err := p.prepare(r.dir); err != nil {
		return r, err
	}
	if r.port, err = freePort(1); err != nil {
		return r, err
	}
	file := func(name string) string { return filepath.Join(r.dir, name) }
	client, peer := "unix://"+file("etcd.sock"), "unix://"+file("peer.sock")
	if r.etcd, err = p.start("etcd", p.programs.Etcd,
		"--name=bare", "--data-dir="+file("etcd"), "--log-level=warn", "--unsafe-no-fsync",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=bare="+peer); err != nil {
		return r, err
	}
	if r.api, err = p.start("kube-apiserver", p.programs.APIServer,
		"--etcd-servers="+client, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", r.port),
		"--endpoint-reconciler-type=none", "--cert-dir="+r.dir, "--token-auth-file="+file("tokens.csv"),
		"--service-account-key-file="+file("sa.key"), "--service-account-signing-key-file="+file("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true", "--profiling=false"); err != nil {
		return r, err
	}
	_, err = r.api.answers(ctx, pollEvery, 2*time.Minute, func(ctx context.Context) error { return p.ask(ctx, r.dir, r.port) })
	return r, err
}

func (p *plane) start(name string, program build.Program, args ...string) (*child, error) {
	cmd := exec.Command(program.Path, args...)
	if program.Argv0 != "" {
		cmd.Args[0] = program.Argv0
	}
	cmd.Env = append(os.Environ(), "GOGC=50") // as the lab does
	return p.bench.launch(name, cmd)
}

func (p *plane) prepare(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte(p.token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return fmt.Errorf("write token: %w", err)
	}
	_, err := newKey(filepath.Join(dir, "sa.key"))
	return err
}

// ask asks the API server whether it is ready, and trusts the certificate that it makes for itself.
func (p *plane) ask(ctx context.Context, dir string, port int) error {
	authority, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
	if err != nil {
		return err
	}
	client := clientOf(authority)
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+on(port)+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the API server answers %s", answer.Status)
	}
	if shut := answer.Body.Close(); shut != nil {
		return shut
	}
	return err
}
