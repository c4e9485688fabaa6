package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"commander/agents/lab"
	"commander/agents/lab/controlplane"
	"commander/agents/lab/process"
)

// guestsDir is where the lab keeps what it runs for clusters that are not its own.
const guestsDir = "guests"

const guestFile = "guest.json"

// guests are the agents that run beside the lab for clusters of others.
type guests struct {
	mu      sync.Mutex // one change at a time; protects keepers
	keepers map[string]*process.Keeper
}

// ensureGuestAgent gives the agent its account in somebody's cluster and runs it here.
func (d *Daemon) ensureGuestAgent(ctx context.Context, id string, want lab.Guest, say func(string)) error {
	if uuid.Validate(id) != nil {
		return problem(lab.Invalid, "%q is not the id of a cluster", id)
	}
	if want.CommanderURL == "" || want.Token == "" || len(want.Kubeconfig) == 0 {
		return problem(lab.Invalid, "an agent of a guest needs commanderURL, token and kubeconfig")
	}
	d.guests.mu.Lock()
	defer d.guests.mu.Unlock()
	dir := d.guestDir(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create directory of a guest: %w", err)
	}
	raw, err := json.Marshal(want)
	if err != nil {
		return fmt.Errorf("write record of a guest: %w", err)
	}
	if err := controlplane.WriteFile(filepath.Join(dir, guestFile), raw); err != nil {
		return err
	}
	return d.startGuest(ctx, id, want, say)
}

func (d *Daemon) guestDir(id string) string { return filepath.Join(d.Dir, guestsDir, id) }

func (d *Daemon) startGuest(ctx context.Context, id string, want lab.Guest, say func(string)) error {
	if d.Agent == "" {
		return problem(lab.Conflict, "this lab daemon was started without --agent-binary, so it cannot run an agent")
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(want.Kubeconfig)
	if err != nil {
		return problem(lab.Invalid, "kubeconfig of the guest: %s", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("open the guest: %w", err)
	}
	token, err := agentIdentity(ctx, client)
	if err != nil {
		return err
	}
	say("account of the agent is ready")
	kubeconfig, err := guestKubeconfig(want.Kubeconfig, token)
	if err != nil {
		return err
	}
	keeper := d.guests.keepers[id]
	if keeper == nil {
		if keeper, err = process.NewKeeper(d.guestDir(id), d.Log.With("guest", id)); err != nil {
			return err
		}
		d.guests.keepers[id] = keeper
	}
	plan := agentFiles(d.Agent, filepath.Join(d.guestDir(id), "agent"), want.Agent, func() ([]byte, error) { return kubeconfig, nil })
	if err := keeper.Ensure(ctx, agentProcess, plan); err != nil {
		return err
	}
	say("agent is started")
	return nil
}

// guestKubeconfig is the way into the same cluster for the agent's account.
func guestKubeconfig(admin []byte, token string) ([]byte, error) {
	config, err := clientcmd.Load(admin)
	if err != nil {
		return nil, problem(lab.Invalid, "kubeconfig of the guest: %s", err)
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil {
		return nil, problem(lab.Invalid, "kubeconfig of the guest: no current context")
	}
	config.AuthInfos = map[string]*api.AuthInfo{agentAccount: {Token: token}}
	config.Contexts = map[string]*api.Context{config.CurrentContext: {Cluster: current.Cluster, AuthInfo: agentAccount}}
	out, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig of the agent: %w", err)
	}
	return out, nil
}

// stopGuestAgent ends the agent of a guest and forgets all about it.
func (d *Daemon) stopGuestAgent(ctx context.Context, id string) error {
	if uuid.Validate(id) != nil {
		return problem(lab.Invalid, "%q is not the id of a cluster", id)
	}
	d.guests.mu.Lock()
	defer d.guests.mu.Unlock()
	if keeper := d.guests.keepers[id]; keeper != nil {
		if err := keeper.Stop(ctx, agentProcess); err != nil {
			return err
		}
		keeper.Close()
		delete(d.guests.keepers, id)
	}
	if err := os.RemoveAll(d.guestDir(id)); err != nil {
		return fmt.Errorf("remove files of a guest: %w", err)
	}
	return nil
}

// restoreGuests runs the agents again that ran before. One whose cluster cannot be reached now
// keeps its files and is tried again with the next start or attachment.
func (d *Daemon) restoreGuests(ctx context.Context) {
	entries, err := os.ReadDir(filepath.Join(d.Dir, guestsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		d.Log.Error("guests not brought back", "error", err)
	}
	for _, e := range entries {
		id := e.Name()
		var want lab.Guest
		raw, err := os.ReadFile(filepath.Join(d.guestDir(id), guestFile))
		if err == nil {
			err = json.Unmarshal(raw, &want)
		}
		if err == nil {
			d.guests.mu.Lock()
			err = d.startGuest(ctx, id, want, func(string) {})
			d.guests.mu.Unlock()
		}
		if err != nil {
			d.Log.Error("guest not brought back", "guest", id, "error", err)
		}
	}
}

// leaveGuests ends the agents of guests, or lets go of them.
func (d *Daemon) leaveGuests(ctx context.Context) error {
	d.guests.mu.Lock()
	defer d.guests.mu.Unlock()
	var all []error
	for _, keeper := range d.guests.keepers {
		if d.StopClusters {
			all = append(all, keeper.Stop(ctx, agentProcess))
		}
		keeper.Close()
	}
	return errors.Join(all...)
}
