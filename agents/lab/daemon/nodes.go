package daemon

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"

	"commander/agents/lab"
	"commander/agents/lab/build"
	"commander/agents/lab/nodes"
)

func (d *Daemon) ensureNodes(ctx context.Context, id string, want lab.Nodes, say func(string)) error {
	c, err := d.running(ctx, id)
	if err != nil {
		return err
	}
	defer c.giveBack()
	client, err := c.client()
	if err != nil {
		return err
	}
	version := build.Kubernetes(c.read().Reached).Version
	for i := range want.Nodes {
		minor, err := build.Minor(want.Nodes[i].KubernetesVersion)
		if err != nil {
			return problem(lab.Invalid, "node %s: %v", want.Nodes[i].Name, err)
		}
		want.Nodes[i].KubernetesVersion = minor
		if target := build.Kubernetes(minor).Version; target != version {
			return problem(lab.Conflict, "node %s is to run %s beside a control plane of %s: upgrade the control plane first", want.Nodes[i].Name, target, version)
		}
	}
	return nodes.Ensure(ctx, client, want, version, say)
}

// running takes the turn of a cluster that is up; the caller gives it back.
func (d *Daemon) running(ctx context.Context, id string) (*cluster, error) {
	c := d.find(id)
	if c == nil {
		return nil, problem(lab.NotFound, "there is no cluster %s", id)
	}
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	r := c.read()
	if r.Deleting || r.Reached == "" {
		c.giveBack()
		return nil, problem(lab.Conflict, "the control plane of cluster %s is not up", id)
	}
	return c, nil
}

func (d *Daemon) find(id string) *cluster {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clusters[id]
}

func (c *cluster) client() (kubernetes.Interface, error) {
	config, err := c.plane.AdminConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client of cluster: %w", err)
	}
	return client, nil
}

// lookLimit is how long a look at a cluster may wait for its API server.
const lookLimit = 5 * time.Second

// state looks at a cluster without taking its turn, so that it also answers in the middle of an
// operation.
func (d *Daemon) state(ctx context.Context, id string) (lab.State, error) {
	c := d.find(id)
	if c == nil {
		return lab.State{}, nil
	}
	r := c.read()
	s := lab.State{
		Exists: true, Deleting: r.Deleting, Agent: r.Agent != nil,
		ControlPlane: lab.ControlPlane{
			KubernetesVersion: r.Reached, PodSubnet: r.Settings.PodSubnet,
			ServiceSubnet: r.Settings.ServiceSubnet, Domain: r.Settings.Domain,
		},
	}
	for _, p := range c.plane.Keeper.Status() {
		s.Processes = append(s.Processes, lab.Process(p))
	}
	if r.Deleting || r.Reached == "" {
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	if !c.plane.Running() || c.plane.Ready(ctx) != nil {
		return s, nil
	}
	client, err := c.client()
	if err != nil {
		return s, err
	}
	s.Nodes, err = nodes.List(ctx, client)
	s.Ready = err == nil
	return s, err
}
