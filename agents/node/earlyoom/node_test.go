package earlyoom

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// known are pods by UID.
type known map[string]Pod

func (k known) ByUID(uid string) (Pod, bool) { p, ok := k[uid]; return p, ok }

// write makes files below a folder; keys that end in a slash are folders.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func psi(full string) string {
	return "some avg10=90.00 avg60=0.00 avg300=0.00 total=9\nfull avg10=" + full + " avg60=1.00 avg300=0.50 total=1500000\n"
}

const meminfo = "MemTotal:       1000 kB\nMemFree:        10 kB\nMemAvailable:   50 kB\n"

func TestSampleOfVersion2(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pod := "cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice/"
	write(t, dir, map[string]string{
		"proc/meminfo": meminfo, "proc/pressure/memory": psi("41.50"),
		"cgroup/cgroup.controllers":                   "memory",
		"cgroup/system.slice/memory.pressure":         psi("12.00"),
		"cgroup/kubepods.slice/memory.pressure":       psi("80.00"), // of pods, not beside them
		pod + "memory.pressure":                       psi("33.00"),
		pod + "memory.current":                        "4000",
		pod + "memory.max":                            "max",
		pod + "memory.stat":                           "anon 1\ninactive_file 500\n",
		pod + "cri-containerd-x.scope/memory.current": "990", pod + "cri-containerd-x.scope/memory.max": "1000",
		pod + "cri-containerd-x.scope/memory.pressure": psi("33.00"),
	})
	cgroups, err := FindCgroups(filepath.Join(dir, "cgroup"))
	if err != nil {
		t.Fatal(err)
	}
	node := Node{Proc: filepath.Join(dir, "proc"), Cgroups: cgroups, Pods: known{"1a-2b": {Namespace: "shop", Name: "web"}}}
	got, err := node.Sample()
	if err != nil {
		t.Fatal(err)
	}
	want := Sample{
		Node:  Pressure{Avg10: 41.5, Avg60: 1, Avg300: 0.5, Total: 1500 * time.Millisecond},
		Total: 1000 << 10, Available: 50 << 10, Outside: 12,
		Pods: []Pod{{
			Namespace: "shop", Name: "web", Usage: 3500, Stall: 33, Confined: true,
			Cgroup: "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSampleOfVersion1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pod := "cgroup/memory/kubepods/besteffort/pod1a-2b/"
	write(t, dir, map[string]string{
		"proc/meminfo": meminfo, "proc/pressure/memory": psi("0.00"),
		pod + "memory.usage_in_bytes": "4000", pod + "memory.limit_in_bytes": "9223372036854771712",
		pod + "memory.stat": "total_inactive_file 4500\n",
	})
	cgroups, err := FindCgroups(filepath.Join(dir, "cgroup"))
	if err != nil {
		t.Fatal(err)
	}
	node := Node{Proc: filepath.Join(dir, "proc"), Cgroups: cgroups, Pods: known{}}
	got, err := node.Sample()
	if err != nil {
		t.Fatal(err)
	}
	want := []Pod{{UID: "1a-2b", Static: true, Stall: -1, Cgroup: "kubepods/besteffort/pod1a-2b"}}
	if diff := cmp.Diff(want, got.Pods); diff != "" || got.Outside != -1 {
		t.Errorf("outside %v, pods -want +got:\n%s", got.Outside, diff)
	}
}

func TestPodUID(t *testing.T) {
	t.Parallel()
	for group, want := range map[string]string{
		"kubepods/pod1-2":                      "1-2",
		"kubepods/burstable/pod1-2":            "1-2",
		"kubepods.slice/kubepods-pod1_2.slice": "1-2",
		"kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2.slice": "1-2",
		"kubepods.slice/kubepods-besteffort.slice":                                  "",
		"kubepods/burstable":        "",
		"system.slice/podman.slice": "man",
	} {
		if got, _ := podUID(group); got != want {
			t.Errorf("%s: got %q, want %q", group, got, want)
		}
	}
}

func TestPressureFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, test := range map[string]struct{ text, want string }{
		"cut":    {"full avg10=1.00 avg60=1.00\n", "got 2 of"},
		"number": {"full avg10=x avg60=1.00 avg300=1 total=1\n", "invalid syntax"},
		"line":   {"some avg10=1.00 avg60=1.00 avg300=1 total=1\n", "no line full"},
	} {
		write(t, dir, map[string]string{name: test.text})
		if _, err := readFull(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	if _, err := readFull(filepath.Join(dir, "none")); !errors.Is(err, ErrNoPSI) {
		t.Errorf("got %v, want that pressure is not measured", err)
	}
}
