package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// workFolder is where a server keeps sockets and states of its running operations. The server and the
// processes of its operations hold a lock on it, which the kernel releases with the last of them.
type workFolder struct {
	path string
	lock *os.File
}

// newWorkFolder makes a folder below another one, from which it first removes the folders of servers
// that were killed: the states in them are of no use to anybody.
func newWorkFolder(parent string) (*workFolder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	abandoned, err := filepath.Glob(filepath.Join(parent, "dhctl-*"))
	if err != nil {
		return nil, fmt.Errorf("look for folders of servers that were killed: %w", err)
	}
	for _, path := range abandoned {
		if lock, err := lockFolder(path); err == nil { // else it is in use, somebody else's, or gone
			_ = os.RemoveAll(path)
			lock.Close()
		}
	}
	// It has another name until it is locked, so that no other server takes it for abandoned.
	path, err := os.MkdirTemp(parent, ".dhctl-")
	if err != nil {
		return nil, fmt.Errorf("make folder for operations: %w", err)
	}
	lock, err := lockFolder(path)
	if err != nil {
		_ = os.RemoveAll(path)
		return nil, err
	}
	name := filepath.Join(parent, strings.TrimPrefix(filepath.Base(path), "."))
	if err := os.Rename(path, name); err != nil {
		lock.Close()
		_ = os.RemoveAll(path)
		return nil, fmt.Errorf("name folder for operations: %w", err)
	}
	return &workFolder{path: name, lock: lock}, nil
}

func lockFolder(path string) (*os.File, error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open folder for operations: %w", err)
	}
	info, err := folder.Stat()
	if err == nil && !info.IsDir() {
		err = unix.ENOTDIR
	}
	if err == nil {
		err = unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		folder.Close()
		return nil, fmt.Errorf("lock folder for operations: %w", err)
	}
	return folder, nil
}

// remove ends the use of the folder.
func (f *workFolder) remove() {
	_ = os.RemoveAll(f.path)
	f.lock.Close()
}
