package clustermanager

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"commander/jobs/clustermanager/process"
)

// Connectors keeps one ampg-connector for every cluster that has an agent. On one machine they
// are processes; the sockets are <dir>/<cluster>/tunnel.sock and api-server.sock.
type Connectors struct {
	// Dir is given to the web role as well: that is where it finds the sockets.
	Dir    string
	Binary string
	Keeper *process.Keeper
	Log    *slog.Logger
	// Wanted lists the clusters that need a connector.
	Wanted func(ctx context.Context) ([]uuid.UUID, error)

	kept map[uuid.UUID]bool // owned by Run
}

// connectorsEvery is how soon a connector that died or is not needed any more is noticed.
const connectorsEvery = 2 * time.Second

// Ensure starts a cluster's connector unless it runs.
func (c *Connectors) Ensure(ctx context.Context, clusterID string) error {
	dir := filepath.Join(c.Dir, clusterID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of a connector: %w", err)
	}
	return c.Keeper.Ensure(ctx, process.Spec{
		Name: "ampg-connector-" + clusterID, Socket: filepath.Join(dir, "tunnel.sock"), Binary: c.Binary,
		Args: []string{"--cluster=" + clusterID, "--dir=" + dir}, LogFile: filepath.Join(dir, "connector.log"),
	})
}

// Run keeps connectors until the context ends.
func (c *Connectors) Run(ctx context.Context) error {
	c.kept = map[uuid.UUID]bool{}
	tick := time.NewTicker(connectorsEvery)
	defer tick.Stop()
	for {
		if err := c.sync(ctx); err != nil && ctx.Err() == nil {
			c.Log.Warn("keep connectors", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (c *Connectors) sync(ctx context.Context) error {
	wanted, err := c.Wanted(ctx)
	if err != nil {
		return err
	}
	keep := make(map[uuid.UUID]bool, len(wanted))
	for _, id := range wanted {
		keep[id] = true
		if err := c.Ensure(ctx, id.String()); err != nil {
			c.Log.Warn("keep a connector", "cluster", id, "error", err)
		}
	}
	for id := range c.kept {
		if !keep[id] {
			c.remove(id.String())
		}
	}
	c.kept = keep
	return c.sweep(keep)
}

// sweep removes what an earlier process left of clusters that are gone.
func (c *Connectors) sweep(keep map[uuid.UUID]bool) error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return fmt.Errorf("read the folder of connectors: %w", err)
	}
	for _, entry := range entries {
		id, err := uuid.Parse(entry.Name())
		if err != nil || keep[id] || process.Answers(filepath.Join(c.Dir, entry.Name(), "tunnel.sock")) {
			continue
		}
		c.remove(entry.Name())
	}
	return nil
}

func (c *Connectors) remove(clusterID string) {
	c.Keeper.Stop("ampg-connector-" + clusterID)
	if err := os.RemoveAll(filepath.Join(c.Dir, clusterID)); err != nil {
		c.Log.Warn("remove a connector's folder", "cluster", clusterID, "error", err)
	}
}
