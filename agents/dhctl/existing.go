package dhctl

import (
	"context"
	"errors"
	"fmt"

	"commander/agents/dhctl/config"
	"commander/agents/dhctl/guest"
)

// Host is an engine that also runs agents for clusters whose machines are somebody else's. Stopping an agent that does
// not run is a success.
type Host interface {
	EnsureGuestAgent(ctx context.Context, id string, kubeconfig []byte, commanderURL, token, caBundle string) error
	StopGuestAgent(ctx context.Context, id string) error
}

// existing is the engine of a cluster that Commander did not make and that is reached by a
// kubeconfig: its machines and its control plane are looked at and never touched.
type existing struct {
	kubeconfig []byte
	connect    Connect
	host       Host // nil where nothing runs agents
	// agentImage is that of the agent, which runs in the cluster itself; empty where host runs it.
	agentImage string
	log        func(string)
}

// kubeconfigEntry is where the state of such a cluster says how it is reached.
const kubeconfigEntry = "kubeconfig"

func (e *existing) Wanted(cluster, _ string) (Infra, error) {
	c, err := config.ParseCluster(cluster, false)
	if err != nil {
		return Infra{}, err
	}
	return Infra{Exists: true, Version: c.KubernetesVersion}, nil
}

func (e *existing) Observe(ctx context.Context, _ string) (Infra, error) {
	api, err := e.connect(e.kubeconfig)
	if err != nil {
		return Infra{}, err
	}
	version, err := api.Version(ctx)
	return Infra{Exists: true, Version: version}, err
}

func (e *existing) EnsureBase(ctx context.Context, id, cluster, provider string, _ func(string)) error {
	want, err := e.Wanted(cluster, provider)
	if err != nil {
		return err
	}
	have, err := e.Observe(ctx, id)
	if err != nil {
		return err
	}
	if want.Version != have.Version {
		return fmt.Errorf("the cluster runs Kubernetes %s and %s is declared: the control plane of an attached cluster is upgraded by whoever runs it", have.Version, want.Version)
	}
	return nil
}

func (e *existing) EnsureMachines(context.Context, string, string, string, []string, func(string)) error {
	return nil
}

func (e *existing) Kubeconfig(context.Context, string) ([]byte, error) { return e.kubeconfig, nil }

func (e *existing) EnsureAgent(ctx context.Context, id, commanderURL, token, caBundle string) error {
	if e.agentImage != "" {
		return e.deployAgent(ctx, guest.Agent{Image: e.agentImage, CommanderURL: commanderURL, Token: token, CABundle: caBundle})
	}
	if e.host == nil {
		return errors.New("nothing here can run an agent for a cluster that was not made here: name the image of the agent with --agent-image, and it runs in the cluster")
	}
	return e.host.EnsureGuestAgent(ctx, id, e.kubeconfig, commanderURL, token, caBundle)
}

// deployAgent makes the agent run in the cluster: its pods start, and start again, by the cluster's own doing.
func (e *existing) deployAgent(ctx context.Context, agent guest.Agent) error {
	objects, err := agent.Objects()
	if err != nil {
		return err
	}
	api, err := e.connect(e.kubeconfig)
	if err != nil {
		return err
	}
	return api.Apply(ctx, objects, e.log)
}

// StopAgent ends an agent that runs beside the cluster. One in the cluster goes with its namespace.
func (e *existing) StopAgent(ctx context.Context, id string) error {
	if e.host == nil {
		return nil
	}
	return e.host.StopGuestAgent(ctx, id)
}

func (e *existing) DeleteMachines(_ context.Context, _ string, log func(string)) error {
	log("The machines of an attached cluster are left as they are")
	return nil
}

func (e *existing) DeleteBase(context.Context, string, func(string)) error { return nil }
