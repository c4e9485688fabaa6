// Package engine lets lab clusters be made, changed and destroyed in the phases of dhctl. Its
// methods have plain types, so that neither side imports the other.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"commander/agents/lab"
)

// Machine is a node in comparable form.
type Machine = struct{ Group, Class, Settings string }

// Infra is what a cluster consists of.
type Infra = struct {
	Exists   bool
	Version  string
	Fixed    string
	Machines map[string]Machine
}

// Engine works through the lab's daemon.
type Engine struct{ Lab *lab.Client }

// readyLimit is how long to wait for a control plane that is coming up, for instance because the
// daemon was started a moment ago.
const readyLimit = 30 * time.Second

// lookAgain is how often a control plane that is coming up is looked at.
const lookAgain = 250 * time.Millisecond

// Wanted reads the documents. Errors are for whoever wrote them.
func (e *Engine) Wanted(cluster, provider string) (Infra, error) {
	plane, nodes, err := wanted(cluster, provider)
	if err != nil {
		return Infra{}, err
	}
	return infra(plane, nodes)
}

// Observe looks at a cluster, waiting a while for its control plane. Its error says when that
// does not come up.
func (e *Engine) Observe(ctx context.Context, id string) (Infra, error) {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		s, err := e.Lab.State(ctx, id)
		if err != nil {
			return Infra{}, err
		}
		if !s.Exists {
			return Infra{}, nil
		}
		if s.Ready {
			return infra(s.ControlPlane, s.Nodes)
		}
		if s.Deleting {
			return Infra{}, fmt.Errorf("cluster %s is being deleted", id)
		}
		select {
		case <-ctx.Done():
			return Infra{}, fmt.Errorf("wait for the control plane of cluster %s: %w", id, ctx.Err())
		case <-again.C:
		}
	}
}

// EnsureBase makes or upgrades the control plane.
func (e *Engine) EnsureBase(ctx context.Context, id, cluster, provider string, log func(string)) error {
	plane, _, err := wanted(cluster, provider)
	if err != nil {
		return err
	}
	return e.Lab.EnsureControlPlane(ctx, id, plane, log)
}

// EnsureMachines makes and changes nodes; those that remove names go, or are made anew if wanted.
func (e *Engine) EnsureMachines(ctx context.Context, id, cluster, provider string, remove []string, log func(string)) error {
	_, nodes, err := wanted(cluster, provider)
	if err != nil {
		return err
	}
	return e.Lab.EnsureNodes(ctx, id, lab.Nodes{Nodes: nodes, Remove: remove}, log)
}

// Kubeconfig is an administrator's.
func (e *Engine) Kubeconfig(ctx context.Context, id string) ([]byte, error) {
	return e.Lab.Kubeconfig(ctx, id)
}

// EnsureAgent runs Commander's agent beside the cluster.
func (e *Engine) EnsureAgent(ctx context.Context, id, commanderURL, token, caBundle string) error {
	return e.Lab.EnsureAgent(ctx, id, lab.Agent{CommanderURL: commanderURL, Token: token, CABundle: caBundle}, nil)
}

// StopAgent ends Commander's agent of the cluster, which itself runs on.
func (e *Engine) StopAgent(ctx context.Context, id string) error {
	if err := e.Lab.StopAgent(ctx, id); err != nil && !errors.Is(err, &lab.Problem{Code: lab.NotFound}) {
		return err
	}
	return nil
}

// EnsureGuestAgent runs Commander's agent for a cluster that is not the lab's.
func (e *Engine) EnsureGuestAgent(ctx context.Context, id string, kubeconfig []byte, commanderURL, token, caBundle string) error {
	return e.Lab.EnsureGuestAgent(ctx, id, lab.Guest{
		Agent: lab.Agent{CommanderURL: commanderURL, Token: token, CABundle: caBundle}, Kubeconfig: kubeconfig,
	}, nil)
}

// StopGuestAgent ends it.
func (e *Engine) StopGuestAgent(ctx context.Context, id string) error {
	return e.Lab.StopGuestAgent(ctx, id)
}

// removeLimit bounds the orderly removal of nodes of a cluster that is deleted anyway.
const removeLimit = 30 * time.Second

// DeleteMachines ends the agent and removes all nodes. Nodes that cannot be removed in time, or
// whose control plane is down, are left to vanish with it.
func (e *Engine) DeleteMachines(ctx context.Context, id string, log func(string)) error {
	s, err := e.Lab.State(ctx, id)
	if err != nil {
		return err
	}
	if !s.Exists {
		return nil
	}
	if err := e.Lab.StopAgent(ctx, id); err != nil && !errors.Is(err, &lab.Problem{Code: lab.NotFound}) {
		log("The agent is left to end with the control plane: " + err.Error())
	}
	var names []string
	for _, n := range s.Nodes {
		names = append(names, n.Name)
	}
	if len(names) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	if err := e.Lab.EnsureNodes(bounded, id, lab.Nodes{Remove: names}, log); err != nil && ctx.Err() == nil {
		log("Nodes are left to vanish with the control plane: " + err.Error())
	}
	return ctx.Err()
}

// DeleteBase deletes the control plane and all that is left of the cluster.
func (e *Engine) DeleteBase(ctx context.Context, id string, log func(string)) error {
	return e.Lab.Delete(ctx, id, log)
}

func wanted(cluster, provider string) (lab.ControlPlane, []lab.Node, error) {
	c, err := lab.ParseClusterConfiguration(cluster)
	if err != nil {
		return lab.ControlPlane{}, nil, err
	}
	p, err := lab.ParseConfiguration(provider)
	if err != nil {
		return lab.ControlPlane{}, nil, err
	}
	nodes, err := lab.WantedNodes(c, p)
	return lab.ControlPlane{
		KubernetesVersion: c.KubernetesVersion, PodSubnet: c.PodSubnet, ServiceSubnet: c.ServiceSubnet, Domain: c.Domain,
	}, nodes, err
}

func infra(plane lab.ControlPlane, nodes []lab.Node) (Infra, error) {
	i := Infra{Exists: true, Version: plane.KubernetesVersion, Machines: map[string]Machine{}}
	plane.KubernetesVersion = ""
	fixed, err := json.Marshal(plane)
	if err != nil {
		return Infra{}, fmt.Errorf("compare control planes: %w", err)
	}
	i.Fixed = string(fixed)
	for _, n := range nodes {
		class, err := json.Marshal(n.Class)
		if err != nil {
			return Infra{}, fmt.Errorf("compare nodes: %w", err)
		}
		settings, err := json.Marshal(settings{n.Labels, n.Taints, n.KubernetesVersion})
		if err != nil {
			return Infra{}, fmt.Errorf("compare nodes: %w", err)
		}
		i.Machines[n.Name] = Machine{Group: n.Group, Class: string(class), Settings: string(settings)}
	}
	return i, nil
}

// settings is what of a node can be changed where it stands. Empty labels and none are the same.
type settings struct {
	Labels            map[string]string `json:"labels,omitempty"`
	Taints            []lab.Taint       `json:"taints,omitempty"`
	KubernetesVersion string            `json:"kubernetesVersion"`
}
