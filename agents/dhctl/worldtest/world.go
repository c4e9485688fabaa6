// Package worldtest is a world of clusters in a folder: an engine with behaviour and faults for
// tests. It is on disk because operations run in processes of their own and are killed there.
package worldtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sigs.k8s.io/yaml"

	"commander/agents/dhctl"
	"commander/agents/dhctl/config"
)

// World is a folder. It is an engine, and the API of each of its clusters.
type World struct{ Dir string }

// Faults, by the name of the method that has it.
const (
	Hang  = "hang"  // wait until told to stop
	Deaf  = "deaf"  // wait for ever
	Panic = "panic" // panic
	Die   = "die"   // kill the process
)

// Cluster is one cluster of the world.
type Cluster struct {
	Version  string                   `json:"version"`
	Fixed    string                   `json:"fixed"`
	Machines map[string]dhctl.Machine `json:"machines"`
	Owner    string                   `json:"owner"`
	Docs     [2]string                `json:"docs"`
	Objects  []string                 `json:"objects"`
	Agent    string                   `json:"agent"`
}

// Break gives a method a fault; any text that is not a fault's name is an error. An empty text mends it.
func (w World) Break(method, fault string) error {
	if fault == "" {
		return os.Remove(w.file("fault-" + method))
	}
	return os.WriteFile(w.file("fault-"+method), []byte(fault), 0o600)
}

// Calls lists the methods that were called, oldest first.
func (w World) Calls() []string {
	raw, err := os.ReadFile(w.file("calls"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(raw))
}

// Cluster reads a cluster; nil when there is none.
func (w World) Cluster(id string) (*Cluster, error) {
	raw, err := os.ReadFile(w.file("cluster-" + id))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var c Cluster
	return &c, json.Unmarshal(raw, &c)
}

// Put makes a cluster what it is said to be.
func (w World) Put(id string, c *Cluster) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	half := w.file("half-" + id)
	if err := os.WriteFile(half, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(half, w.file("cluster-"+id))
}

func (w World) file(name string) string { return filepath.Join(w.Dir, name) }

// called notes a call and has the method's fault, if it has one.
func (w World) called(ctx context.Context, method string, log func(string)) error {
	f, err := os.OpenFile(w.file("calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, method)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fault, err := os.ReadFile(w.file("fault-" + method))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	log(fmt.Sprintf("%s in process %d", fault, os.Getpid()))
	switch string(fault) {
	case Hang:
		<-ctx.Done()
		return ctx.Err()
	case Deaf:
		select {}
	case Panic:
		panic("the world is broken")
	case Die:
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	default:
		return errors.New(string(fault))
	}
}

// change calls a method and changes the cluster by it.
func (w World) change(ctx context.Context, method, id string, log func(string), by func(*Cluster)) error {
	c, err := w.Cluster(id)
	if err != nil {
		return err
	}
	if c == nil {
		c = &Cluster{}
	}
	if c.Machines == nil {
		c.Machines = map[string]dhctl.Machine{}
	}
	if err := w.called(ctx, method, log); err != nil {
		return err
	}
	by(c)
	return w.Put(id, c)
}

// Wanted implements dhctl.Engine. The provider's document maps machines to classes.
func (w World) Wanted(cluster, provider string) (dhctl.Infra, error) {
	c, err := config.ParseCluster(cluster, true)
	if err != nil {
		return dhctl.Infra{}, err
	}
	var p struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Machines   map[string]string `json:"machines"`
	}
	if err := yaml.UnmarshalStrict([]byte(provider), &p); err != nil {
		return dhctl.Infra{}, err
	}
	infra := dhctl.Infra{Exists: true, Version: c.KubernetesVersion, Fixed: c.PodSubnetCIDR, Machines: map[string]dhctl.Machine{}}
	for name, class := range p.Machines {
		infra.Machines[name] = dhctl.Machine{Group: "worker", Class: class}
	}
	return infra, nil
}
