package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

// retryEvery is how often a cluster that did not come back is tried again.
const retryEvery = 30 * time.Second

// restore finds the clusters of the directory and brings them back in the background.
func (d *Daemon) restore() error {
	entries, err := os.ReadDir(d.Dir)
	if err != nil {
		return fmt.Errorf("list clusters: %w", err)
	}
	for _, e := range entries {
		id := e.Name()
		if uuid.Validate(id) != nil || !e.IsDir() {
			continue
		}
		r, found, err := readRecord(filepath.Join(d.Dir, id))
		if err != nil {
			return err
		}
		r.Deleting = r.Deleting || !found
		c, err := d.openCluster(id, r)
		if err != nil {
			return err
		}
		d.mu.Lock()
		d.clusters[id] = c
		d.mu.Unlock()
		<-c.turn // nobody works on the cluster before it is back
		d.background.Go(func() { d.bringBack(c) })
	}
	return nil
}

// bringBack starts or adopts the processes of a cluster, or goes on deleting it, until it
// succeeds. It begins with the turn and gives it back between tries.
func (d *Daemon) bringBack(c *cluster) {
	for {
		err := d.tryBack(d.life, c)
		c.giveBack()
		if err == nil || d.life.Err() != nil {
			return
		}
		c.log.Error("cluster not brought back", "error", err, "retry_after", retryEvery)
		timer := time.NewTimer(retryEvery)
		select {
		case <-d.life.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if c.take(d.life) != nil {
			return
		}
	}
}

func (d *Daemon) tryBack(ctx context.Context, c *cluster) error {
	select {
	case d.starts <- struct{}{}:
		defer func() { <-d.starts }()
	case <-ctx.Done():
		return ctx.Err()
	}
	say := func(line string) { c.log.Info("bringing cluster back", "step", line) }
	if c.read().Deleting {
		return d.delete(ctx, c, say)
	}
	if err := d.start(ctx, c, say); err != nil {
		return err
	}
	if r := c.read(); r.Agent != nil {
		return d.startAgent(ctx, c, *r.Agent, say)
	}
	return nil
}
