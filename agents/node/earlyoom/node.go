package earlyoom

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Node reads how this machine is.
type Node struct {
	Proc    string // /proc of the machine
	Cgroups Cgroups
	// Pods knows the pods that run here.
	Pods interface{ ByUID(uid string) (Pod, bool) }
}

// PressureFile is the file of the node's pressure: that of the root group where the kernel has
// it, else that of the machine; both say the same.
func (n Node) PressureFile() string {
	if n.Cgroups.Pressure != "" {
		if root := filepath.Join(n.Cgroups.Pressure, "memory.pressure"); exists(root) {
			return root
		}
	}
	return filepath.Join(n.Proc, "pressure", "memory")
}

// Pressure is the node's alone; it is cheaper than Sample. It fails with ErrNoPSI.
func (n Node) Pressure() (Pressure, error) { return readFull(n.PressureFile()) }

// Sample reads all that a decision needs. Pods that come or go meanwhile are left out.
func (n Node) Sample() (Sample, error) {
	var s Sample
	var err error
	if s.Node, err = n.Pressure(); err != nil {
		return Sample{}, err
	}
	meminfo := filepath.Join(n.Proc, "meminfo")
	total, err1 := readKey(meminfo, "MemTotal")
	available, err2 := readKey(meminfo, "MemAvailable")
	if err := errors.Join(err1, err2); err != nil {
		return Sample{}, fmt.Errorf("read memory of the node: %w", err)
	}
	s.Total, s.Available = total, available
	groups, err := n.Cgroups.pods()
	if err != nil {
		return Sample{}, err
	}
	for _, group := range groups {
		pod, known := n.Pods.ByUID(group.uid)
		if !known {
			// A static pod has another UID here than its mirror has in the API; or it is new or
			// gone. Its stalls count, but it is never a victim.
			pod = Pod{UID: group.uid, Static: true}
		}
		pod.Cgroup, pod.Stall, pod.Confined = group.path, n.Cgroups.stall(group.path), n.Cgroups.confined(group.path)
		if pod.Usage, err = n.Cgroups.usage(group.path); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return Sample{}, err
		}
		s.Pods = append(s.Pods, pod)
	}
	s.Outside, err = n.outside()
	return s, err
}

// outside is the largest stall of the groups beside those of pods; -1 if it is not measured.
func (n Node) outside() (float64, error) {
	if n.Cgroups.Pressure == "" {
		return -1, nil
	}
	groups, err := subgroups(n.Cgroups.Pressure, "")
	if err != nil {
		return -1, err
	}
	most := 0.0
	for _, group := range groups {
		if group != kubepods[0] && group != kubepods[1] {
			most = max(most, n.Cgroups.stall(group))
		}
	}
	return most, nil
}
