package earlyoom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Kill ends all processes of a pod and waits until they are gone. The largest container goes
// first, so that memory comes back soonest, and the pod's sandbox, which holds hardly any, last:
// were it first, kubelet would tidy up and start again beside what is still running. It fails if
// the processes cannot be ended or are still there when ctx ends.
func (c Cgroups) Kill(ctx context.Context, pod Pod) error {
	if _, is := podUID(pod.Cgroup); !is {
		return fmt.Errorf("end pod %s/%s: %q is no control group of a pod", pod.Namespace, pod.Name, pod.Cgroup)
	}
	containers, err := subgroups(c.Memory, pod.Cgroup)
	if err != nil {
		return err
	}
	sizes := map[string]uint64{}
	for _, group := range containers {
		sizes[group], _ = c.usage(group) // one that cannot be read any more counts as empty
	}
	slices.SortStableFunc(containers, func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	for _, group := range append(containers, pod.Cgroup) {
		if err := c.killGroup(ctx, group); err != nil {
			return fmt.Errorf("end pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// killGroup ends what is in a group and below until nothing is left. Where the kernel can it
// ends all at once, else one by one and again, as they may have started others meanwhile.
func (c Cgroups) killGroup(ctx context.Context, group string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	root := c.Memory
	if c.Pressure != "" && exists(filepath.Join(c.Pressure, group, "cgroup.kill")) {
		root = c.Pressure
	}
	for {
		left, err := processes(filepath.Join(root, group))
		if err != nil || len(left) == 0 {
			return err
		}
		err = writeExisting(filepath.Join(root, group, "cgroup.kill"), "1")
		if errors.Is(err, fs.ErrNotExist) {
			err = killEach(left)
		}
		if err != nil && !errors.Is(err, syscall.ENODEV) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d processes are left in %s: %w", len(left), group, ctx.Err())
		case <-tick.C:
		}
	}
}

func writeExisting(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func killEach(pids []int) error {
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end process %d: %w", pid, err)
		}
	}
	return nil
}

// processes lists those of a group and all below that still run. Zombies are left out: their
// memory is free, and it is their parent's affair to collect them.
func processes(dir string) ([]int, error) {
	var pids []int
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone with its last process
		}
		if err != nil || !entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				return fmt.Errorf("parse cgroup.procs: %w", err)
			}
			if pid > 1 && !zombie(pid) {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return pids, nil
}

// zombie reads the state after the command in /proc/<pid>/stat; a command may hold any letters,
// but the last closing parenthesis ends it. A process that is gone counts as one.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
	return strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X")
}
