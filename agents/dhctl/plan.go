package dhctl

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"commander/agents/dhctl/config"
)

// Statuses of a part of the infrastructure.
const (
	partOK          = "ok"
	partChanged     = "changed"
	partDestructive = "destructively_changed"
	partAbandoned   = "abandoned"
	partAbsent      = "absent"
	partError       = "error"
)

// plan is the difference between what is wanted and what there is.
type plan struct {
	base  string
	why   error // why base is in error
	nodes []NodeStatus
}

// NodeStatus is how one machine compares with what is wanted.
type NodeStatus struct {
	Group  string `json:"group"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// difference compares; nodes come out sorted by name.
func difference(wanted, observed Infra) plan {
	p := plan{base: partOK}
	switch {
	case !observed.Exists:
		p.base = partAbsent
	case wanted.Fixed != observed.Fixed:
		p.base, p.why = partError, errors.New("networks, prefix or domain differ from what was built, and cannot be changed")
	case wanted.Version != observed.Version:
		p.base = partChanged
		if p.why = config.VersionChange(minor(observed.Version), minor(wanted.Version)); p.why != nil {
			p.base = partError
		}
	}
	names := maps.Clone(wanted.Machines)
	if names == nil {
		names = map[string]Machine{}
	}
	maps.Copy(names, observed.Machines)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		want, isWanted := wanted.Machines[name]
		have, isThere := observed.Machines[name]
		node := NodeStatus{Group: names[name].Group, Name: name, Status: partOK}
		switch {
		case !isThere:
			node.Status = partAbsent
		case !isWanted:
			node.Status = partAbandoned
		case want.Class != have.Class || want.Group != have.Group:
			node.Status = partDestructive
		case want != have:
			node.Status = partChanged
		}
		p.nodes = append(p.nodes, node)
	}
	return p
}

// removed names the machines that are lost by carrying out the plan.
func (p plan) removed() []string {
	var names []string
	for _, n := range p.nodes {
		if n.Status == partAbandoned || n.Status == partDestructive {
			names = append(names, n.Name)
		}
	}
	return names
}

// status is the worst of all parts.
func (p plan) status() string {
	worst := statusOf(p.base)
	for _, n := range p.nodes {
		worst = worse(worst, statusOf(n.Status))
	}
	return worst
}

// destructiveID identifies what carrying out the plan would destroy, so that an approval holds
// for exactly that; empty when nothing would be.
func (p plan) destructiveID() string {
	if p.status() != DestructiveOutOfSync {
		return ""
	}
	lost := []string{}
	if p.base == partError {
		lost = append(lost, "base "+p.base)
	}
	for _, n := range p.nodes {
		if statusOf(n.Status) == DestructiveOutOfSync {
			lost = append(lost, fmt.Sprintf("node %s %s", n.Name, n.Status))
		}
	}
	slices.Sort(lost)
	sum := sha256.Sum256([]byte(strings.Join(lost, "\n")))
	return hex.EncodeToString(sum[:])
}

func statusOf(part string) string {
	switch part {
	case partOK:
		return InSync
	case partChanged, partAbsent:
		return OutOfSync
	default:
		return DestructiveOutOfSync
	}
}

// worse returns the worse of two statuses of a check.
func worse(a, b string) string {
	order := []string{InSync, OutOfSync, DestructiveOutOfSync}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

func minor(version string) int {
	_, text, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(text) // an engine's own version; what is not a number counts as zero
	return n
}
