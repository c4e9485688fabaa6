package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"commander/internal/postgres"
)

// home knows where the demo keeps what. All paths are absolute.
type home struct {
	dir   string // may be entered by all, so that PostgreSQL's user reaches its data; secrets in it are closed one by one
	cache string
	bin   string // our programs
	lock  *os.File

	// Folders of the source tree with the modules of programs that are not ours.
	demoSource, labSource string
}

func newHome(dir, cache, bin string) (*home, error) {
	h := &home{dir: dir, cache: cache, bin: bin, demoSource: "cmd/demo", labSource: "agents/lab"}
	for _, path := range []*string{&h.dir, &h.cache, &h.bin, &h.demoSource, &h.labSource} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return nil, fmt.Errorf("find folder: %w", err)
		}
		*path = absolute
	}
	return h, nil
}

func (h *home) path(names ...string) string {
	return filepath.Join(append([]string{h.dir}, names...)...)
}

// open makes the folders and keeps a second demo out of them.
func (h *home) open() error {
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	for name, mode := range map[string]fs.FileMode{"pki": 0o700, "keys": 0o700, "log": 0o700, "lab": 0o700, "bin": 0o755} {
		if err := os.MkdirAll(h.path(name), mode); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	return h.hold()
}

// hold takes the lock on the folder; the kernel frees it when this process ends.
func (h *home) hold() error {
	lock, err := os.OpenFile(h.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open lock (was this demo started by another user? then use that user, or `make demo-reset` as root): %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		owner, _ := os.ReadFile(h.path("lock"))
		return fmt.Errorf("%s is used by a demo that runs already (process %s): stop it first, or start this one with --dir", h.dir, strings.TrimSpace(string(owner)))
	}
	h.lock = lock
	if err := lock.Truncate(0); err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	if _, err := fmt.Fprintln(lock, os.Getpid()); err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	return nil
}

// maxSocket is how long the path of a unix socket may be: 108 bytes with the zero at its end.
const maxSocket = 107

// longestName is the longest name of a socket below the run folder: <cluster uuid>/api-server.sock.
const longestName = 1 + 36 + len("/api-server.sock")

// runDir makes the folder of the sockets: inside the demo's folder if paths in there are short
// enough, else in the folder for temporary files.
func (h *home) runDir() (string, error) {
	dir := h.path("run")
	if len(dir)+longestName > maxSocket {
		hash := sha256.Sum256([]byte(h.dir))
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("commander-demo-%d-%x", os.Getuid(), hash[:4]))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make folder of sockets: %w", err)
	}
	// In a folder that all may write to, somebody else may have made it before us.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("look at folder of sockets: %w", err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(owner.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("%s is not a folder of ours alone: remove it", dir)
	}
	return dir, nil
}

// reset forgets everything the demo has kept, wherever it is.
func (h *home) reset() error {
	if err := h.open(); err != nil {
		return err
	}
	run, err := h.runDir()
	if err != nil {
		return err
	}
	data, err := postgres.Place(h.path("postgres"))
	if err != nil {
		return err
	}
	for _, dir := range []string{run, data, h.dir} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("forget %s: %w", dir, err)
		}
	}
	fmt.Println("forgot database, clusters, keys and certificates")
	return nil
}
