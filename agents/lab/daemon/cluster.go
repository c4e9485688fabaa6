package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"commander/agents/lab"
	"commander/agents/lab/controlplane"
	"commander/agents/lab/kubelet"
)

// record is what is kept of a cluster on disk.
type record struct {
	// Settings hold the wanted version. An API server may already run in it, so after a crash
	// the cluster goes on to it and never back.
	Settings controlplane.Settings `json:"settings"`
	// Reached is the version in which the control plane was last ready; empty before the first time.
	Reached  string     `json:"reached,omitempty"`
	Agent    *lab.Agent `json:"agent,omitempty"`
	Deleting bool       `json:"deleting,omitempty"`
}

// cluster is one lab cluster. One operation at a time works on it: whoever holds turn.
type cluster struct {
	id, dir string
	log     *slog.Logger
	turn    chan struct{} // holds one token; who takes it has the turn

	mu     sync.Mutex // protects record
	record record

	// What follows belongs to the holder of the turn.
	plane    *controlplane.Cluster
	kubelets context.CancelFunc // nil while they are not served
	serving  sync.WaitGroup
}

const recordFile = "cluster.json"

// openCluster makes a cluster of a directory with its record.
func (d *Daemon) openCluster(id string, r record) (*cluster, error) {
	c := &cluster{
		id: id, dir: filepath.Join(d.Dir, id), record: r, turn: make(chan struct{}, 1),
		log: d.Log.With("cluster", id),
	}
	c.turn <- struct{}{}
	var err error
	c.plane, err = controlplane.Open(c.dir, r.Settings, &d.ports, c.log, c.moved)
	return c, err
}

// take waits for the turn; the caller gives it back.
func (c *cluster) take(ctx context.Context) error {
	select {
	case <-c.turn:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for another operation on the cluster: %w", ctx.Err())
	}
}

func (c *cluster) giveBack() { c.turn <- struct{}{} }

func (c *cluster) read() record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record
}

// change changes the record and saves it.
func (c *cluster) change(how func(*record)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	how(&c.record)
	raw, err := json.MarshalIndent(c.record, "", "  ")
	if err != nil {
		return fmt.Errorf("write record of cluster: %w", err)
	}
	return controlplane.WriteFile(filepath.Join(c.dir, recordFile), append(raw, '\n'))
}

// moved saves the port that the control plane chose.
func (c *cluster) moved(s controlplane.Settings) {
	if err := c.change(func(r *record) { r.Settings.Port = s.Port }); err != nil {
		// The port is chosen anew at the next start, so going on is better than not running.
		c.log.Warn("port of the API server not saved", "error", err)
	}
}

// readRecord reads the record of a directory. Without one the directory is what an interrupted
// creation or deletion left.
func readRecord(dir string) (r record, found bool, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return r, false, fmt.Errorf("read record of cluster %s: %w", filepath.Base(dir), err)
	}
	return r, true, nil
}

// serveKubelets answers the API server until stop or letGo. It needs the certificates of the
// control plane, so it follows its first start.
func (c *cluster) serveKubelets(life context.Context) error {
	if c.kubelets != nil {
		return nil
	}
	ca, key, err := c.plane.Authority()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(life)
	c.kubelets = cancel
	server := &kubelet.Server{Socket: c.plane.KubeletSocket(), CA: ca, Key: key, Client: controlplane.KubeletClient, Log: c.log}
	c.serving.Go(func() {
		if err := server.Run(ctx); err != nil {
			c.log.Error("kubelets not served", "error", err)
		}
	})
	return nil
}

// stop ends all processes of the cluster, those that talk before those that are talked to.
func (c *cluster) stop(ctx context.Context) error {
	if err := c.plane.Keeper.Stop(ctx, agentProcess); err != nil {
		return err
	}
	err := c.plane.Stop(ctx)
	c.letGo()
	return err
}

// letGo stops watching and leaves processes running.
func (c *cluster) letGo() {
	if c.kubelets != nil {
		c.kubelets()
		c.kubelets = nil
	}
	c.serving.Wait()
	c.plane.Keeper.Close()
}
