// Package daemon owns the lab clusters of one machine: it starts their processes, keeps them
// running, finds them again after its own restart, and answers package lab's client.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"commander/agents/lab/build"
	"commander/agents/lab/controlplane"
	"commander/agents/lab/process"
	"commander/internal/run"
)

// Config is what a daemon needs to know.
type Config struct {
	Dir    string // where the clusters live, one folder each
	Socket string // unix socket to answer on
	Agent  string // the program commander-agent; may be missing until an agent is asked for
	// StopClusters ends all clusters when the daemon ends; their data stays, and they come back
	// with the next start. Otherwise they go on without the daemon.
	StopClusters bool
	Builder      build.Builder
	Log          *slog.Logger
}

// Daemon owns the clusters of one directory.
type Daemon struct {
	Config
	ports controlplane.Ports
	// life ends when the daemon is told to stop; work that must not end with a request hangs on it.
	life context.Context
	// starts bounds how many clusters are brought back at the same time after a restart.
	starts chan struct{}
	// background counts the goroutines that bring clusters back.
	background sync.WaitGroup

	mu       sync.Mutex // protects clusters
	clusters map[string]*cluster

	guests guests
}

const (
	startsAtOnce = 4
	// stopLimit is how long the clusters may take to end with the daemon; then they are killed.
	stopLimit = 20 * time.Second
	// longestSocket is what the kernel allows for the path of a unix socket, in bytes.
	longestSocket = 107
)

// New makes a daemon; Run starts it.
func New(c Config) (*Daemon, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("find directory: %w", err)
	}
	c.Dir = dir
	longest := filepath.Join(dir, "00000000-0000-0000-0000-000000000000", "kubelet.sock")
	if len(longest) > longestSocket || len(c.Socket) > longestSocket {
		return nil, fmt.Errorf("the path of the lab's directory (%s) or socket (%s) is too long for unix sockets: choose one that is %d bytes shorter",
			dir, c.Socket, max(len(longest), len(c.Socket))-longestSocket)
	}
	return &Daemon{Config: c, starts: make(chan struct{}, startsAtOnce), clusters: map[string]*cluster{}, guests: guests{keepers: map[string]*process.Keeper{}}}, nil
}

// Run brings the clusters back and serves until ctx ends.
func (d *Daemon) Run(ctx context.Context) error {
	life, end := context.WithCancel(ctx)
	defer end()
	d.life = life
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return fmt.Errorf("create directory of the lab: %w", err)
	}
	unlock, err := lockDir(d.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	listener, err := listen(d.Socket)
	if err != nil {
		return err
	}
	if err := d.restore(); err != nil {
		_ = listener.Close()
		return err
	}
	d.background.Go(func() { d.restoreGuests(life) })
	server := &http.Server{
		Handler:     d.routes(),
		BaseContext: func(net.Listener) context.Context { return life },
		ErrorLog:    slog.NewLogLogger(d.Log.Handler(), slog.LevelWarn),
	}
	d.Log.Info("lab is at work", "dir", d.Dir, "socket", d.Socket, "clusters", len(d.list()))
	err = run.Serve(server, listener)(ctx)
	end()
	d.background.Wait()
	return errors.Join(err, d.leave(context.WithoutCancel(ctx)))
}

// leave ends the clusters or lets go of them.
func (d *Daemon) leave(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	d.mu.Lock()
	clusters := slices.Collect(maps.Values(d.clusters))
	d.mu.Unlock()
	var all sync.WaitGroup
	problems := make(chan error, len(clusters))
	for _, c := range clusters {
		all.Go(func() {
			if d.StopClusters {
				problems <- c.stop(limit)
			}
			c.letGo()
		})
	}
	all.Wait()
	close(problems)
	err := d.leaveGuests(limit)
	for problem := range problems {
		err = errors.Join(err, problem)
	}
	return err
}

// lockDir makes sure that a directory has one daemon.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock directory of the lab: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another lab daemon owns %s: stop it first", dir)
	}
	return func() { _ = f.Close() }, nil
}

// listen makes the socket for its owner alone. The lock on the directory says that nobody
// listens on an old one.
func listen(socket string) (net.Listener, error) {
	if conn, err := net.Dial("unix", socket); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("another daemon answers on %s: stop it first", socket)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return nil, fmt.Errorf("create directory of the socket: %w", err)
	}
	// Made under another name and moved, so that it never exists with wider permissions.
	temporary := socket + ".new"
	_ = os.Remove(temporary)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	listener.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(temporary, 0o600), os.Rename(temporary, socket)); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("protect socket: %w", err)
	}
	return listener, nil
}
