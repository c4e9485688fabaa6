package earlyoom

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Cgroups is where the hierarchies of control groups are mounted. On cgroup v2 all three are the
// same folder.
type Cgroups struct {
	Memory   string // use and limits
	Pressure string // memory.pressure; empty if there is no cgroup v2 hierarchy
	V2       bool   // Memory has the files of cgroup v2
}

// FindCgroups looks at what is mounted below a folder, /sys/fs/cgroup on a real node: cgroup v2,
// or cgroup v1 with or without a v2 hierarchy beside it.
func FindCgroups(root string) (Cgroups, error) {
	if exists(filepath.Join(root, "cgroup.controllers")) {
		return Cgroups{Memory: root, Pressure: root, V2: true}, nil
	}
	c := Cgroups{Memory: filepath.Join(root, "memory")}
	if !exists(c.Memory) {
		return Cgroups{}, fmt.Errorf("find control groups: neither version 2 nor memory of version 1 below %s", root)
	}
	if unified := filepath.Join(root, "unified"); exists(filepath.Join(unified, "cgroup.controllers")) {
		c.Pressure = unified
	}
	return c, nil
}

// podGroup is the cgroup of a pod.
type podGroup struct{ uid, path string } // path below the roots

// kubepods are the names of the group above all pods, by kubelet's two drivers.
var kubepods = []string{"kubepods.slice", "kubepods"}

// pods lists the cgroups of pods: <kubepods>/pod<uid> and <kubepods>/<qos>/pod<uid>.
func (c Cgroups) pods() ([]podGroup, error) {
	var found []podGroup
	for _, top := range kubepods {
		first, err := subgroups(c.Memory, top)
		if err != nil {
			return nil, err
		}
		for _, group := range first {
			if uid, is := podUID(group); is {
				found = append(found, podGroup{uid, group})
				continue
			}
			second, err := subgroups(c.Memory, group)
			if err != nil {
				return nil, err
			}
			for _, group := range second {
				if uid, is := podUID(group); is {
					found = append(found, podGroup{uid, group})
				}
			}
		}
	}
	return found, nil
}

// subgroups lists the groups directly below one; a group that is gone has none.
func subgroups(root, group string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, group))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list control groups: %w", err)
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, path.Join(group, e.Name()))
		}
	}
	return found, nil
}

// podUID reads the UID from the last part of a path: "pod<uid>", or
// "kubepods-<qos>-pod<uid>.slice" with underscores instead of dashes in the UID.
func podUID(group string) (string, bool) {
	name, slice := strings.CutSuffix(path.Base(group), ".slice")
	if slice {
		i := strings.LastIndex(name, "-")
		name = strings.ReplaceAll(name[i+1:], "_", "-")
	}
	uid, is := strings.CutPrefix(name, "pod")
	if !is || uid == "" {
		return "", false
	}
	return uid, true
}

// stall is avg10 of a group's pressure in percent, or -1 where it is not measured.
func (c Cgroups) stall(group string) float64 {
	if c.Pressure == "" {
		return -1
	}
	p, err := readFull(filepath.Join(c.Pressure, group, "memory.pressure"))
	if err != nil {
		return -1
	}
	return p.Avg10
}

// usage is the working set of a group: what it uses without file pages that are cheap to drop.
func (c Cgroups) usage(group string) (uint64, error) {
	used, err := c.charged(group)
	if err != nil {
		return 0, err
	}
	inactive := "inactive_file"
	if !c.V2 {
		inactive = "total_inactive_file"
	}
	cheap, err := readKey(filepath.Join(c.Memory, group, "memory.stat"), inactive)
	if err != nil {
		return 0, fmt.Errorf("read memory use: %w", err)
	}
	return used - min(cheap, used), nil
}

// charged is all that counts against a group's limit, file pages included.
func (c Cgroups) charged(group string) (uint64, error) {
	name := "memory.current"
	if !c.V2 {
		name = "memory.usage_in_bytes"
	}
	used, err := readNumber(filepath.Join(c.Memory, group, name))
	if err != nil {
		return 0, fmt.Errorf("read memory use: %w", err)
	}
	return used, nil
}

// limit is what a group may use at most; zero means as much as there is.
func (c Cgroups) limit(group string) uint64 {
	name := "memory.max"
	if !c.V2 {
		name = "memory.limit_in_bytes"
	}
	bytes, err := readNumber(filepath.Join(c.Memory, group, name))
	if err != nil || bytes >= unlimited {
		return 0 // "max" in version 2, nearly all bits set in version 1
	}
	return bytes
}

const (
	// atLimit is the share of a limit from which on a group's stalls are its own affair: reclaim
	// inside a group starts close below its limit.
	atLimit = 0.95
	// stalling is the stall in percent from which on a container counts as stalled.
	stalling = 1
)

// confined says whether a pod is at its limit, or all of its containers that stall are at theirs.
func (c Cgroups) confined(pod string) bool {
	if c.full(pod) {
		return true
	}
	containers, err := subgroups(c.Memory, pod)
	if err != nil {
		return false
	}
	some := false
	for _, group := range containers {
		if c.stall(group) < stalling {
			continue
		}
		if !c.full(group) {
			return false
		}
		some = true
	}
	return some
}

// full says whether a group is at its limit.
func (c Cgroups) full(group string) bool {
	limit := c.limit(group)
	if limit == 0 {
		return false
	}
	used, err := c.charged(group)
	return err == nil && float64(used) >= atLimit*float64(limit)
}

// unlimited is more memory than any machine has: from here on a limit is none.
const unlimited = 1 << 60

func readNumber(path string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// readKey finds "key value" or "key: value kB" in a file of such lines; kB are made bytes.
func readKey(path, key string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.TrimSuffix(words[0], ":") != key {
			continue
		}
		value, err := strconv.ParseUint(words[1], 10, 64)
		if len(words) > 2 && words[2] == "kB" {
			value *= 1024
		}
		return value, err
	}
	return 0, fmt.Errorf("no %s in %s", key, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
