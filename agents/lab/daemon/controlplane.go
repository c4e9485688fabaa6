package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"commander/agents/lab"
	"commander/agents/lab/build"
	"commander/agents/lab/controlplane"
)

// ensureControlPlane makes or upgrades the control plane of a cluster and waits until it is ready.
// What it needs is built first, and a build ends with the request. The start does not: whoever
// asks again later finds the control plane in one version or in the other, never in between.
func (d *Daemon) ensureControlPlane(ctx context.Context, id string, want lab.ControlPlane, say func(string)) error {
	minor, err := build.Minor(want.KubernetesVersion)
	if err != nil {
		return problem(lab.Invalid, "%v", err)
	}
	want.KubernetesVersion = minor
	if known := d.find(id); known != nil { // refused before anything is built for it
		if err := mayBecome(known.read().Settings, want); err != nil {
			return err
		}
	}
	if _, err := d.programs(ctx, minor, say); err != nil {
		return err
	}
	c, err := d.findOrMake(id, want)
	if err != nil {
		return err
	}
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.giveBack()
	r := c.read()
	if r.Deleting {
		return problem(lab.Conflict, "cluster %s is being deleted", id)
	}
	if err := mayBecome(r.Settings, want); err != nil {
		return err
	}
	if r.Settings.Version != minor {
		say(fmt.Sprintf("upgrading the control plane from v%s to v%s", r.Settings.Version, minor))
		if err := c.change(func(r *record) { r.Settings.Version = minor }); err != nil {
			return err
		}
		c.plane.SetVersion(minor)
	}
	err = d.start(d.life, c, say)
	if err != nil && r.Reached == "" && d.life.Err() == nil {
		// It never was a cluster; what is left of the attempt would only be in the way of the next.
		say("the control plane did not come up and is removed")
		err = errors.Join(err, d.delete(d.life, c, say))
	}
	return err
}

// mayBecome tells whether a control plane can be made what is wanted, in place.
func mayBecome(is controlplane.Settings, want lab.ControlPlane) error {
	if is.PodSubnet != want.PodSubnet || is.ServiceSubnet != want.ServiceSubnet || is.Domain != want.Domain {
		return problem(lab.Conflict, "podSubnetCIDR, serviceSubnetCIDR and clusterDomain are fixed when a cluster is made (%s, %s, %s): make a new cluster for others",
			is.PodSubnet, is.ServiceSubnet, is.Domain)
	}
	versions := build.Minors() // the newest first
	from, to := slices.Index(versions, is.Version), slices.Index(versions, want.KubernetesVersion)
	switch {
	case to > from && from >= 0:
		return problem(lab.Conflict, "Kubernetes cannot go back from v%s to v%s", is.Version, want.KubernetesVersion)
	case from-to > 1:
		return problem(lab.Conflict, "Kubernetes goes up one minor version at a time: v%s comes after v%s", versions[from-1], is.Version)
	}
	return nil
}

// findOrMake returns the cluster and makes its directory and record if it is new.
func (d *Daemon) findOrMake(id string, want lab.ControlPlane) (*cluster, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.clusters[id]; c != nil {
		return c, nil
	}
	r := record{Settings: controlplane.Settings{
		Name: id, Version: want.KubernetesVersion,
		PodSubnet: want.PodSubnet, ServiceSubnet: want.ServiceSubnet, Domain: want.Domain,
	}}
	c, err := d.openCluster(id, r)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, fmt.Errorf("create directory of cluster: %w", err)
	}
	if err := c.change(func(*record) {}); err != nil {
		return nil, err
	}
	d.clusters[id] = c
	return c, nil
}

// start brings the control plane up in its wanted version; the caller has the turn.
func (d *Daemon) start(ctx context.Context, c *cluster, say func(string)) error {
	version := c.read().Settings.Version
	programs, err := d.programs(ctx, version, say)
	if err != nil {
		return err
	}
	if err := c.plane.Start(ctx, programs, say); err != nil {
		return err
	}
	if err := c.serveKubelets(d.life); err != nil {
		return err
	}
	return c.change(func(r *record) { r.Reached = version })
}

// programs finds or builds what a version needs; say follows a build.
func (d *Daemon) programs(ctx context.Context, minor string, say func(string)) (build.Programs, error) {
	builder := d.Builder
	builder.Log = say
	return builder.Ensure(ctx, minor)
}
