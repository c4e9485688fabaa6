package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// prepare makes the folder, the password and the data, or checks those that are there.
func (s *Server) prepare(ctx context.Context) error {
	if err := os.MkdirAll(s.options.Dir, 0o700); err != nil {
		return fmt.Errorf("make folder for PostgreSQL: %w", err)
	}
	if err := s.account.own(s.options.Dir); err != nil {
		return err
	}
	if err := s.readPassword(); err != nil {
		return err
	}
	made, err := os.ReadFile(filepath.Join(s.data(), "PG_VERSION"))
	if os.IsNotExist(err) {
		return s.initialise(ctx)
	}
	if err != nil {
		return fmt.Errorf("read version of the data: %w", err)
	}
	major, err := Major(s.options.Bin)
	if err != nil {
		return err
	}
	if was := strings.TrimSpace(string(made)); was != major {
		return fmt.Errorf("the data in %s was made by PostgreSQL %s, the binaries in %s are version %s", s.data(), was, s.options.Bin, major)
	}
	return s.stopPrevious(ctx)
}

func (s *Server) passwordFile() string { return filepath.Join(s.options.Dir, "password") }

func (s *Server) readPassword() error {
	kept, err := os.ReadFile(s.passwordFile())
	if err == nil {
		s.password = strings.TrimSpace(string(kept))
		return nil
	}
	if !os.IsNotExist(err) {
		return fmt.Errorf("read password: %w", err)
	}
	s.password = newPassword()
	if err := os.WriteFile(s.passwordFile(), []byte(s.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("keep password: %w", err)
	}
	return s.account.own(s.passwordFile())
}

// initialise makes the data beside its place and moves it there when it is whole, so that an
// interrupted first start leaves nothing that looks like a database.
func (s *Server) initialise(ctx context.Context) error {
	half := s.data() + ".new"
	if err := os.RemoveAll(half); err != nil {
		return fmt.Errorf("remove half-made data: %w", err)
	}
	args := []string{
		"-D", half, "-U", "postgres", "--pwfile", s.passwordFile(), "-A", "scram-sha-256",
		"-E", "UTF8", "--locale=C.UTF-8",
	}
	if !s.options.Durable {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.options.Bin, "initdb"), args...)
	cmd.Dir, cmd.Env = s.options.Dir, environment()
	s.account.become(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make PostgreSQL data in %s: %w: %s", half, err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(half, s.data()); err != nil {
		return fmt.Errorf("move PostgreSQL data into place: %w", err)
	}
	return nil
}

// stopPrevious ends a server that an earlier, killed run left working on the same data.
func (s *Server) stopPrevious(ctx context.Context) error {
	file, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read process id of an earlier PostgreSQL: %w", err)
	}
	line, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || !worksIn(pid, s.data()) {
		return nil // PostgreSQL itself sees that the file is stale
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		return fmt.Errorf("stop an earlier PostgreSQL, process %d: %w", pid, err)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for worksIn(pid, s.data()) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop an earlier PostgreSQL, process %d: %w", pid, ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// worksIn reports whether a process lives and has the folder as its working directory, as every
// postmaster has its data.
func worksIn(pid int, dir string) bool {
	cwd, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd"))
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && cwd == real
}
