package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"commander/jobs/clustermanager"
	"commander/jobs/clustermanager/dhctl"
	"commander/jobs/clustermanager/process"
)

// clusterManager is the worker on clusters with the processes that it keeps.
type clusterManager struct {
	*clustermanager.Manager
	connectors *clustermanager.Connectors
	keeper     *process.Keeper
	servers    *dhctl.Servers
}

func (p *program) newClusterManager() (*clusterManager, error) {
	connectors, err := p.runFolder("connectors")
	if err != nil {
		return nil, err
	}
	locks, err := p.runFolder("locks")
	if err != nil {
		return nil, err
	}
	// Each manager has servers of its own, so that the end of one ends no operation of another;
	// the locks are shared, so that no two of them work on one cluster.
	servers, err := p.runFolder(filepath.Join("dhctl", strconv.Itoa(os.Getpid())))
	if err != nil {
		return nil, err
	}
	if err := forgetDead(filepath.Dir(servers)); err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this worker: %w", err)
	}
	m := &clusterManager{keeper: &process.Keeper{Log: p.log}}
	m.servers = &dhctl.Servers{
		Dir: servers, Output: os.Stderr, Log: p.log,
		Args: []string{
			"--lost-limit=" + p.QuietLimit.String(), "--grace=" + min(p.QuietLimit/4, 10*time.Second).String(),
			"--lock-dir=" + locks, "--tmp-dir=" + servers, "--lab-socket=" + p.LabSocket, "--agent-image=" + p.AgentImage,
		},
	}
	m.connectors = &clustermanager.Connectors{
		Dir: connectors, Binary: p.ConnectorBinary, Keeper: m.keeper, Log: p.log, Wanted: p.store.ConnectedClusterIDs,
	}
	m.Manager = &clustermanager.Manager{
		Tasks:     p.fleet,
		Installer: &clustermanager.Dhctl{Servers: m.servers, Binary: p.DhctlBinary, Version: p.PlatformVersion, BeatEvery: p.beatEvery()},
		Log:       p.log, Worker: host + "/" + strconv.Itoa(os.Getpid()),
		PublicURL: p.PublicURL, CABundle: p.caBundle,
		EnsureConnector: m.connectors.Ensure,
	}
	return m, nil
}

// close ends the processes that this manager started.
func (m *clusterManager) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, abortBound)
	defer cancel()
	if err := m.servers.Close(ctx); err != nil {
		m.Log.Warn("end dhctl servers", "error", err)
	}
	m.keeper.Close()
	if err := os.RemoveAll(m.servers.Dir); err != nil {
		m.Log.Warn("remove the folder of dhctl servers", "error", err)
	}
}

// forgetDead removes the folders of managers that were killed; those of living ones are named
// after their processes.
func forgetDead(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the folder of dhctl servers: %w", err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || syscall.Kill(pid, 0) == nil {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("remove the folder of a manager that was killed: %w", err)
		}
	}
	return nil
}
