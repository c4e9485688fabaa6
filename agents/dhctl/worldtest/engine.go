package worldtest

import (
	"context"
	"errors"
	"os"
	"slices"

	"commander/agents/dhctl"
)

var _ dhctl.Engine = World{}

// Observe implements dhctl.Engine.
func (w World) Observe(ctx context.Context, id string) (dhctl.Infra, error) {
	if err := w.called(ctx, "Observe", func(string) {}); err != nil {
		return dhctl.Infra{}, err
	}
	c, err := w.Cluster(id)
	if c == nil || err != nil {
		return dhctl.Infra{}, err
	}
	return dhctl.Infra{Exists: true, Version: c.Version, Fixed: c.Fixed, Machines: c.Machines}, nil
}

// EnsureBase implements dhctl.Engine.
func (w World) EnsureBase(ctx context.Context, id, cluster, provider string, log func(string)) error {
	want, err := w.Wanted(cluster, provider)
	if err != nil {
		return err
	}
	return w.change(ctx, "EnsureBase", id, log, func(c *Cluster) { c.Version, c.Fixed = want.Version, want.Fixed })
}

// EnsureMachines implements dhctl.Engine.
func (w World) EnsureMachines(ctx context.Context, id, cluster, provider string, remove []string, log func(string)) error {
	want, err := w.Wanted(cluster, provider)
	if err != nil {
		return err
	}
	return w.change(ctx, "EnsureMachines", id, log, func(c *Cluster) {
		for _, name := range remove {
			delete(c.Machines, name)
		}
		for name, m := range want.Machines {
			if have, there := c.Machines[name]; !there || have.Class == m.Class {
				c.Machines[name] = m
			}
		}
	})
}

// Kubeconfig implements dhctl.Engine; it is the cluster's id.
func (w World) Kubeconfig(_ context.Context, id string) ([]byte, error) { return []byte(id), nil }

// EnsureAgent implements dhctl.Engine.
func (w World) EnsureAgent(ctx context.Context, id, commanderURL, token, _ string) error {
	return w.change(ctx, "EnsureAgent", id, func(string) {}, func(c *Cluster) { c.Agent = commanderURL + " " + token })
}

// StopAgent implements dhctl.Engine.
func (w World) StopAgent(ctx context.Context, id string) error {
	return w.change(ctx, "StopAgent", id, func(string) {}, func(c *Cluster) { c.Agent = "" })
}

// EnsureGuestAgent implements dhctl.Host; a kubeconfig is the id of the cluster that it reaches.
func (w World) EnsureGuestAgent(ctx context.Context, _ string, kubeconfig []byte, commanderURL, token, _ string) error {
	return w.change(ctx, "EnsureGuestAgent", string(kubeconfig), func(string) {}, func(c *Cluster) { c.Agent = commanderURL + " " + token })
}

// StopGuestAgent implements dhctl.Host.
func (w World) StopGuestAgent(ctx context.Context, _ string) error {
	return w.called(ctx, "StopGuestAgent", func(string) {})
}

// DeleteMachines implements dhctl.Engine.
func (w World) DeleteMachines(ctx context.Context, id string, log func(string)) error {
	if c, err := w.Cluster(id); c == nil {
		return err
	}
	return w.change(ctx, "DeleteMachines", id, log, func(c *Cluster) { clear(c.Machines) })
}

// DeleteBase implements dhctl.Engine.
func (w World) DeleteBase(ctx context.Context, id string, log func(string)) error {
	if err := w.called(ctx, "DeleteBase", log); err != nil {
		return err
	}
	if err := os.Remove(w.file("cluster-" + id)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Connect is a dhctl.Connect.
func (w World) Connect(kubeconfig []byte) (dhctl.API, error) { return api{w, string(kubeconfig)}, nil }

// api is the API of one cluster.
type api struct {
	world World
	id    string
}

func (a api) Ready(ctx context.Context) error { return a.world.called(ctx, "Ready", func(string) {}) }

func (a api) Owner(context.Context) (string, error) {
	c, err := a.cluster()
	return c.Owner, err
}

func (a api) Configuration(context.Context) (string, string, error) {
	c, err := a.cluster()
	return c.Docs[0], c.Docs[1], err
}

func (a api) Adopt(ctx context.Context, owner, cluster, provider string) error {
	return a.world.change(ctx, "Adopt", a.id, func(string) {}, func(c *Cluster) { c.Owner, c.Docs = owner, [2]string{cluster, provider} })
}

func (a api) Version(ctx context.Context) (string, error) {
	if err := a.world.called(ctx, "Version", func(string) {}); err != nil {
		return "", err
	}
	c, err := a.cluster()
	return c.Version, err
}

func (a api) Networks(context.Context) (pods, services string, err error) {
	c, err := a.cluster()
	return c.Fixed, "", err
}

func (a api) RemoveAgent(ctx context.Context) error {
	return a.world.change(ctx, "RemoveAgent", a.id, func(string) {}, func(c *Cluster) { c.Agent = "" })
}

func (a api) Disown(ctx context.Context, owner string) error {
	return a.world.change(ctx, "Disown", a.id, func(string) {}, func(c *Cluster) {
		if c.Owner == owner {
			c.Owner = ""
		}
	})
}

func (a api) Apply(ctx context.Context, objects []map[string]any, log func(string)) error {
	return a.world.change(ctx, "Apply", a.id, log, func(c *Cluster) {
		for _, o := range objects {
			name := o["kind"].(string) + "/" + o["metadata"].(map[string]any)["name"].(string)
			if !slices.Contains(c.Objects, name) {
				c.Objects = append(c.Objects, name)
			}
		}
	})
}

func (a api) Release(ctx context.Context, log func(string)) error {
	return a.world.called(ctx, "Release", log)
}

func (a api) cluster() (Cluster, error) {
	c, err := a.world.Cluster(a.id)
	if err == nil && c == nil {
		err = errors.New("no such API server")
	}
	if err != nil {
		return Cluster{}, err
	}
	return *c, nil
}
