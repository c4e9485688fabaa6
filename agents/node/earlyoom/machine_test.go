package earlyoom

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hogVariable makes this test binary a process that uses memory: "still" only lives, "thrash"
// reads all over a file that is a little larger than what it may keep in memory: the kernel
// counts a page as missed only if it would have stayed with a little more room.
const hogVariable = "EARLYOOM_TEST_HOG"

func TestMain(m *testing.M) {
	if how := os.Getenv(hogVariable); how != "" {
		if err := hog(how); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// read is where the reading process puts what it read, lest the compiler leave the reading out.
var read byte

func hog(how string) error {
	fmt.Println("ready")
	orders := bufio.NewReader(os.Stdin)
	if _, err := orders.ReadString('\n'); err != nil || how == "still" {
		return err // the test is gone
	}
	go func() {
		_, err := orders.ReadString('\n')
		fmt.Println("left alone:", err)
		os.Exit(1)
	}()
	file, err := os.Open(os.Args[len(os.Args)-1])
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	pages, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	if err := syscall.Madvise(pages, syscall.MADV_RANDOM); err != nil {
		return err
	}
	for {
		read += pages[rand.IntN(len(pages))]
	}
}

// largeFile writes a file that is not in memory, so that the pages read of it count for who reads.
func largeFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(make([]byte, 32<<20))
	err = errors.Join(err, file.Sync(), unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED), file.Close())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// machine makes control groups of its own on the real kernel. Without the right to do so the test
// is reported as not run.
func machine(t *testing.T) Cgroups {
	t.Helper()
	real, err := FindCgroups("/sys/fs/cgroup")
	if err != nil || real.Pressure == "" || os.Getuid() != 0 {
		t.Skipf("needs root and control groups of version 2 (%v)", err)
	}
	name := "earlyoom-test-" + strconv.Itoa(os.Getpid()) + "-" + t.Name()
	own := Cgroups{Memory: filepath.Join(real.Memory, name), Pressure: filepath.Join(real.Pressure, name), V2: real.V2}
	own.group(t, "")
	return own
}

// group makes a group in every hierarchy and removes it after the test.
func (c Cgroups) group(t *testing.T, path string) {
	t.Helper()
	for _, root := range c.roots() {
		dir := filepath.Join(root, path)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Skipf("needs the right to make control groups: %v", err)
		}
		if c.V2 && !strings.Contains(path, "/pod") {
			if err := writeExisting(filepath.Join(dir, "cgroup.subtree_control"), "+memory"); err != nil {
				t.Skipf("needs the memory controller below %s: %v", dir, err)
			}
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Errorf("remove control group: %v", err)
			}
		})
	}
}

func (c Cgroups) roots() []string {
	if c.Memory == c.Pressure {
		return []string{c.Memory}
	}
	return []string{c.Memory, c.Pressure}
}

// start runs a process in a group and returns it waiting for a line on its input.
func (c Cgroups) start(t *testing.T, group, how string, args ...string) (*exec.Cmd, *os.File) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), hogVariable+"="+how)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = in
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed by the test or by what it tests
		_, _ = in.Close(), out.Close()
	})
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for _, root := range c.roots() {
		if err := writeExisting(filepath.Join(root, group, "cgroup.procs"), strconv.Itoa(cmd.Process.Pid)); err != nil {
			t.Fatal(err)
		}
	}
	return cmd, out
}

const podCgroup = "kubepods/burstable/pod1a-2b"

func TestKillEndsAllProcessesOfARealPod(t *testing.T) {
	t.Parallel()
	c := machine(t)
	for _, group := range []string{"kubepods", "kubepods/burstable", podCgroup, podCgroup + "/work", podCgroup + "/pause", "kubepods/podother"} {
		c.group(t, group)
	}
	var victims []*exec.Cmd
	for _, group := range []string{podCgroup + "/work", podCgroup + "/work", podCgroup + "/pause"} {
		cmd, _ := c.start(t, group, "still")
		victims = append(victims, cmd)
	}
	neighbour, _ := c.start(t, "kubepods/podother", "still")

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := c.Kill(ctx, Pod{Namespace: "shop", Name: "web", Cgroup: podCgroup}); err != nil {
		t.Fatal(err)
	}
	for _, victim := range victims {
		if !zombie(victim.Process.Pid) {
			t.Errorf("process %d is still there", victim.Process.Pid)
		}
	}
	if zombie(neighbour.Process.Pid) {
		t.Error("a process of another pod is gone")
	}
	if err := c.Kill(ctx, Pod{Cgroup: "kubepods"}); err == nil {
		t.Error("the group of all pods was taken for a pod")
	}
}

// A pod that fights with its own limit on a real kernel raises pressure, but is not the node's.
func TestPressureInsideARealLimit(t *testing.T) {
	t.Parallel()
	c := machine(t)
	for _, group := range []string{"kubepods", "kubepods/burstable", podCgroup} {
		c.group(t, group)
	}
	limit := map[bool]string{true: "memory.max", false: "memory.limit_in_bytes"}[c.V2]
	if err := writeExisting(filepath.Join(c.Memory, podCgroup, limit), strconv.Itoa(24<<20)); err != nil {
		t.Fatal(err)
	}
	file := largeFile(t)
	_, in := c.start(t, podCgroup, "thrash", file)
	if _, err := in.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node := Node{Proc: "/proc", Cgroups: c, Pods: known{"1a-2b": {Namespace: "shop", Name: "web"}}}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var sample Sample
	for len(sample.Pods) != 1 || sample.Pods[0].Stall < 0.5 {
		select {
		case <-ctx.Done():
			t.Fatalf("no pressure: %+v", sample)
		case <-tick.C:
		}
		var err error
		if sample, err = node.Sample(); err != nil {
			t.Fatal(err)
		}
	}
	if !sample.Pods[0].Confined {
		t.Errorf("got %+v, want the pod seen at its limit", sample.Pods[0])
	}
	// Were the pod alone on a node with hardly any memory available, this pressure would still be
	// its own.
	sample.Node.Avg10 = sample.Pods[0].Stall
	tight := Rules{Threshold: 0.25, Available: 1}
	if _, got, _ := Decide(tight, State{}, sample, start); got != Contained {
		t.Errorf("got %s with %+v, want contained", got, sample)
	}
}

// The kernel itself must wake the monitor, by a trigger on the group that stalls.
func TestTriggerOfARealKernel(t *testing.T) {
	t.Parallel()
	c := machine(t)
	for _, group := range []string{"kubepods", "kubepods/pod3c"} {
		c.group(t, group)
	}
	limit := map[bool]string{true: "memory.max", false: "memory.limit_in_bytes"}[c.V2]
	if err := writeExisting(filepath.Join(c.Memory, "kubepods/pod3c", limit), strconv.Itoa(24<<20)); err != nil {
		t.Fatal(err)
	}
	file := largeFile(t)
	trigger, err := OpenTrigger(filepath.Join(c.Pressure, "kubepods/pod3c/memory.pressure"), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	fired, done := make(chan struct{}), make(chan error)
	go func() { done <- trigger.Watch(ctx, fired) }()
	_, in := c.start(t, "kubepods/pod3c", "thrash", file)
	if _, err := in.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-fired:
	case err := <-done:
		t.Fatalf("ended with %v, want an alarm", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := trigger.Close(); err != nil {
		t.Error(err)
	}
}
