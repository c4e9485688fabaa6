package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// killGrace is how long a process may take to end after SIGTERM before it gets SIGKILL.
// kube-apiserver drains requests for a few seconds; etcd ends at once.
const killGrace = 10 * time.Second

// handle watches one process, a child or not, through a pid file descriptor: it cannot be
// confused with a later process of the same id, and waiting costs no thread.
type handle struct {
	id    Identity
	file  *os.File
	ended chan struct{} // closed when the process has ended or the handle is closed
	child *exec.Cmd     // nil for an adopted process, whose exit somebody else collects
}

// watch opens a handle to a process that must be the one of the identity.
func watch(id Identity) (*handle, error) {
	if id.PID <= 0 { // a record that names nobody
		return nil, fmt.Errorf("watch process %d: %w", id.PID, fs.ErrNotExist)
	}
	fd, err := unix.PidfdOpen(id.PID, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil, fmt.Errorf("watch process %d: %w", id.PID, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("watch process %d (needs Linux 5.10): %w", id.PID, err)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	if !id.Alive() { // asked after opening: from here on the descriptor means this process
		_ = file.Close()
		return nil, fmt.Errorf("watch process %d: %w", id.PID, fs.ErrNotExist)
	}
	h := &handle{id: id, file: file, ended: make(chan struct{})}
	conn, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("watch process %d: %w", id.PID, err)
	}
	go func() { // ends with the process, or when close closes the descriptor
		defer close(h.ended)
		_ = conn.Read(func(fd uintptr) bool {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return err == nil && n > 0
		})
	}()
	return h, nil
}

// close stops watching and leaves the process as it is.
func (h *handle) close() {
	_ = h.file.Close()
	<-h.ended
}

// reap waits for the end of the process and collects the exit of a child.
func (h *handle) reap() {
	<-h.ended
	if h.child != nil && h.child.ProcessState == nil {
		_ = h.child.Wait() // how it ended is kept in the state, see how
	}
	_ = h.file.Close()
}

// how tells how the process ended, as far as that can be known; for after reap.
func (h *handle) how() string {
	if h.child == nil {
		return "adopted, exit unknown"
	}
	return h.child.ProcessState.String()
}

// stop ends the process and everything in its group: SIGTERM, and SIGKILL after the grace or
// when hurry is closed. It returns when the process has ended.
func (h *handle) stop(hurry <-chan struct{}) {
	_ = unix.Kill(-h.id.PID, unix.SIGTERM) // it leads its group, see start
	grace := time.NewTimer(killGrace)
	defer grace.Stop()
	select {
	case <-h.ended:
	case <-grace.C:
	case <-hurry:
	}
	// What is left of the group goes as well; the id of a group that still has members is never
	// given to a new process, and without members there is nobody to hit.
	_ = unix.Kill(-h.id.PID, unix.SIGKILL)
	<-h.ended
}
