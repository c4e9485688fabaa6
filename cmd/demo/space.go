package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// How much must be free, in MiB: a database and a few clusters; and what Go keeps while it builds
// Kubernetes, etcd, kwok and Dex for the first time.
const (
	spaceToRun   = 1 << 10
	spaceToBuild = 8 << 10
)

// needSpace fails if the file system that a folder is or will be on has too little room.
func needSpace(dir string, mebibytes uint64, what string) error {
	for {
		var fs syscall.Statfs_t
		err := syscall.Statfs(dir, &fs)
		if os.IsNotExist(err) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
			continue
		}
		if err != nil {
			return fmt.Errorf("ask for free space in %s: %w", dir, err)
		}
		if free := fs.Bavail * uint64(fs.Bsize) >> 20; free < mebibytes {
			return fmt.Errorf("%s needs %d MiB in %s, %d MiB are free: make room there", what, mebibytes, dir, free)
		}
		return nil
	}
}

// goCache is where Go keeps what it has compiled.
func goCache() (string, error) {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for its cache (is Go installed and on the PATH?): %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
