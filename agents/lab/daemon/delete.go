package daemon

import (
	"context"
	"fmt"
	"os"
)

// deleteCluster ends a cluster for good. It does not end with the request that asked for it: a
// deletion that has begun ends, if need be after a restart of the daemon.
func (d *Daemon) deleteCluster(ctx context.Context, id string, say func(string)) error {
	c := d.find(id)
	if c == nil {
		return nil
	}
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.giveBack()
	if d.find(id) != c {
		return nil // another request deleted it while this one waited
	}
	return d.delete(d.life, c, say)
}

// delete ends all processes and removes all files; the caller has the turn.
func (d *Daemon) delete(ctx context.Context, c *cluster, say func(string)) error {
	if err := c.change(func(r *record) { r.Deleting = true }); err != nil {
		return err
	}
	if err := c.stop(ctx); err != nil {
		return err
	}
	say("all processes have ended")
	if strays, err := c.plane.Keeper.Strays(); err != nil || len(strays) > 0 {
		return fmt.Errorf("delete cluster: processes %v are left: %w", strays, err)
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("delete files of cluster: %w", err)
	}
	d.mu.Lock()
	delete(d.clusters, c.id)
	d.mu.Unlock()
	say("all files are removed")
	return nil
}
