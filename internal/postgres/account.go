package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// Account is the user that PostgreSQL runs as when we are root, since it refuses to be root.
type Account struct {
	Name     string
	UID, GID uint32
}

// RunAs picks the account for PostgreSQL: nil (ourselves) unless we are root, then postgres if
// that user exists, else nobody.
func RunAs() (*Account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	var last error
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			last = err
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read user id of %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read group id of %s: %w", name, err)
		}
		return &Account{Name: name, UID: uint32(uid), GID: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("find a user for PostgreSQL, which refuses to run as root: %w", last)
}

// Reaches reports whether the account may enter a folder, given the modes of all folders above
// it. Folders that do not exist yet count as enterable: whoever makes them decides.
func (a *Account) Reaches(dir string) bool {
	if a == nil {
		return true
	}
	for {
		info, err := os.Stat(dir)
		if err != nil && !os.IsNotExist(err) {
			return false
		}
		if err == nil && !a.enters(info) {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

func (a *Account) enters(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	switch mode := info.Mode().Perm(); {
	case owner.Uid == a.UID:
		return mode&0o100 != 0
	case owner.Gid == a.GID:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// own makes the account the owner of files that we wrote for it.
func (a *Account) own(paths ...string) error {
	if a == nil {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, int(a.UID), int(a.GID)); err != nil {
			return fmt.Errorf("give %s to %s: %w", path, a.Name, err)
		}
	}
	return nil
}

// become makes a command run as the account, in a process group of its own so that Ctrl-C in a
// terminal reaches only those who then stop PostgreSQL in order.
func (a *Account) become(cmd *exec.Cmd) {
	// When the thread that started it dies with its process, PostgreSQL shuts down fast.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.UID, Gid: a.GID}
	}
}
