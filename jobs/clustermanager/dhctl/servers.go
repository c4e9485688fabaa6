package dhctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// Servers keeps dhctl servers as child processes, one a version, each on a unix socket in a
// folder. Several programs may share the folder: who comes second uses the server of the first.
type Servers struct {
	// Dir must be private and short: a socket's whole path has room for about 100 bytes.
	Dir string
	// Args follow "server --listen unix:<path>".
	Args []string
	// Output gets what the servers log.
	Output io.Writer
	Log    *slog.Logger

	mu      sync.Mutex // guards started, and starting
	started map[string]*server
}

// server is a process that we started.
type server struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// startLimit is how long a server may take until it serves.
const startLimit = 30 * time.Second

// probeLimit is how long a living server may take to say so.
const probeLimit = 2 * time.Second

// versionForm keeps a version usable as a file name.
var versionForm = regexp.MustCompile(`^[0-9A-Za-z][-0-9A-Za-z.+]{0,31}$`)

// EnsureServer returns a client of a living server of a version, starting one from the binary
// when there is none. It is cheap to call before every operation, and notices servers that died.
func (s *Servers) EnsureServer(ctx context.Context, binary, version string) (*Client, error) {
	if !versionForm.MatchString(version) {
		return nil, fmt.Errorf("ensure dhctl server: %q is not a version", version)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	socket := filepath.Join(s.Dir, "dhctl-"+version+".sock")
	if c, err := s.adopt(ctx, socket); err == nil {
		return c, nil
	}
	if err := s.start(ctx, binary, version, socket); err != nil {
		return nil, fmt.Errorf("ensure dhctl server %s: %w", version, err)
	}
	return s.await(ctx, version, socket)
}

// adopt uses a server that lives, whoever started it.
func (s *Servers) adopt(ctx context.Context, socket string) (*Client, error) {
	if _, err := os.Stat(socket); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	return Dial(ctx, "unix:"+socket, nil)
}

func (s *Servers) start(ctx context.Context, binary, version, socket string) error {
	if was := s.started[version]; was != nil {
		if err := was.end(ctx); err != nil { // it lives but does not answer
			return err
		}
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	cmd := exec.Command(binary, append([]string{"server", "--listen", "unix:" + socket}, s.Args...)...)
	cmd.Stdout, cmd.Stderr = s.Output, s.Output
	// Ctrl-C on our terminal is for us: Close ends the server when its operations may end. A server
	// whose starter was killed ends too: nobody would talk to it any more.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	started := &server{cmd: cmd, exited: make(chan struct{})}
	go func() { // ends with the process, which Close ends
		defer close(started.exited)
		err := cmd.Wait()
		s.Log.Info("dhctl server ended", "version", version, "pid", cmd.Process.Pid, "error", fmt.Sprint(err))
	}()
	if s.started == nil {
		s.started = map[string]*server{}
	}
	s.started[version] = started
	return nil
}

// await waits until the socket is served. Our process may have ended because another one was
// faster; then that one serves.
func (s *Servers) await(ctx context.Context, version, socket string) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	started := s.started[version]
	go func() {
		select {
		case <-started.exited:
			time.AfterFunc(probeLimit, func() { giveUp(errors.New("its process ended at once; see its log")) })
		case <-ctx.Done():
		}
	}()
	c, err := Dial(ctx, "unix:"+socket, nil)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return nil, fmt.Errorf("ensure dhctl server %s: %w", version, err)
	}
	return c, nil
}

// Close ends the servers that were started here, giving their operations the time that servers
// give them. Adopted ones go on.
func (s *Servers) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wg sync.WaitGroup
	errs := make(chan error, len(s.started))
	for _, one := range s.started {
		wg.Go(func() { errs <- one.end(ctx) })
	}
	wg.Wait()
	close(errs)
	s.started = nil
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// end asks the process to end, and kills it when the context is over first.
func (s *server) end(ctx context.Context) error {
	select {
	case <-s.exited:
		return nil
	default:
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end dhctl server: %w", err)
	}
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
		_ = s.cmd.Process.Kill() // its children end with it: they notice that it is gone
		<-s.exited
		return fmt.Errorf("end dhctl server: %w", ctx.Err())
	}
}
