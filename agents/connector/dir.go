package connector

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Names of the files in a connector's directory.
const (
	TunnelSocket    = "tunnel.sock"
	APIServerSocket = "api-server.sock"
	lockFile        = "lock"
)

// socketPathLimit is the room for a path in Linux's sockaddr_un, without the final zero.
const socketPathLimit = 107

// claim makes the directory ours for as long as the returned file is open.
func claim(dir string) (*os.File, error) {
	if path := filepath.Join(dir, APIServerSocket); len(path) > socketPathLimit {
		return nil, fmt.Errorf("path %q of %d bytes is too long for a unix socket, at most %d", path, len(path), socketPathLimit)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("close directory to others: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(lock.Name())
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("directory %s is held by another connector, process %s", dir, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("take lock: %w", err)
	}
	if err := lock.Truncate(0); err == nil {
		_, _ = lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0) // only for the message above
	}
	return lock, nil
}

// listen replaces the socket that a dead predecessor left. The caller holds the lock, so nobody
// living is behind it.
func listen(dir, name string) (net.Listener, error) {
	path := filepath.Join(dir, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove stale socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("close socket to others: %w", err)
	}
	return l, nil
}
