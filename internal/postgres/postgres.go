// Package postgres starts a PostgreSQL of our own from binaries on this machine, for the demo and
// for tests: as another user when we are root, on a free loopback port, with a password.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options say which server to start.
type Options struct {
	// Bin is the folder with initdb and postgres, as Find returns it.
	Bin string
	// Dir holds the data, the password and the log; it is made if it does not exist and must be
	// a place that the account of RunAs reaches.
	Dir string
	// Durable keeps what was committed through a power cut; without it everything is faster.
	Durable bool
}

// Server is a running PostgreSQL.
type Server struct {
	options  Options
	account  *Account
	password string
	port     int
	cmd      *exec.Cmd
	exited   chan struct{} // closed when the process is gone; then exit holds why
	exit     error
}

// Start makes the data if there is none and starts the server; it returns when the server
// answers. It fails if the data was made by another major version of PostgreSQL.
func Start(ctx context.Context, o Options) (*Server, error) {
	account, err := RunAs()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{o.Bin, filepath.Dir(o.Dir)} {
		if !account.Reaches(dir) {
			return nil, fmt.Errorf("start PostgreSQL: user %s may not enter %s", account.Name, dir)
		}
	}
	s := &Server{options: o, account: account}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	// Another process may take the free port before PostgreSQL does, so a few are tried.
	for range 3 {
		if err = s.launch(ctx); err == nil || ctx.Err() != nil || !s.portTaken() {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL in %s: %w", o.Dir, err)
	}
	return s, nil
}

// URL is the address of a database of the server, the superuser's password inside.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword("postgres", s.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Exited is closed when the server is gone, asked to or not.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Stop shuts the server down: fast, then immediately, then by force, a bounded time each.
func (s *Server) Stop() error {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop PostgreSQL: %w", err)
		}
		select {
		case <-s.exited:
			return nil
		case <-time.After(10 * time.Second):
		}
	}
	return fmt.Errorf("stop PostgreSQL: process %d does not end", s.cmd.Process.Pid)
}

func (s *Server) data() string    { return filepath.Join(s.options.Dir, "data") }
func (s *Server) logFile() string { return filepath.Join(s.options.Dir, "postgres.log") }

// launch starts the process on a free port and waits until it answers.
func (s *Server) launch(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	s.port = port
	log, err := os.Create(s.logFile())
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer log.Close()
	settings := []string{
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-p", strconv.Itoa(port),
		"-c", "max_connections=200", "-c", "password_encryption=scram-sha-256",
	}
	if !s.options.Durable {
		settings = append(settings, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	cmd := exec.Command(filepath.Join(s.options.Bin, "postgres"), append([]string{"-D", s.data()}, settings...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.options.Dir, environment(), log, log
	s.account.become(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd, s.exited = cmd, make(chan struct{})
	go func() {
		s.exit = cmd.Wait()
		close(s.exited)
	}()
	if err := s.untilReady(ctx); err != nil {
		return errors.Join(err, s.Stop())
	}
	return nil
}

func (s *Server) untilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.exited:
			return fmt.Errorf("it ended at once (%w); its log: %s", s.exit, s.lastLog())
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w; its log: %s", err, s.lastLog())
		case <-tick.C:
		}
	}
}

func (s *Server) lastLog() string {
	log, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	const enough = 600 // bytes: the last few lines
	return strings.TrimSpace(string(log[max(0, len(log)-enough):]))
}

func (s *Server) portTaken() bool { return strings.Contains(s.lastLog(), "could not bind") }

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// environment is ours without the settings that would steer PostgreSQL from outside.
func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"}
}

func newPassword() string { return rand.Text() }
