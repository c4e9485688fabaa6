package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	pollEvery = 50 * time.Millisecond
	// startLimit is for a machine with far too much to do; an idle one needs 4 seconds.
	startLimit = 3 * time.Minute
)

// wait polls until the check passes. It gives up with the check's last error when ctx or the
// limit ends, and points at the log of the component that was waited for.
func (c *Cluster) wait(ctx context.Context, component string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		last := check(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last: %w)%s", component, ctx.Err(), last, tail(c.Keeper.LogFile(component)))
		case <-ticker.C:
		}
	}
}

// tailBytes is how much of a component's log goes into an error.
const tailBytes = 1000

func tail(file string) string {
	content, err := os.ReadFile(file)
	if err != nil || len(content) == 0 {
		return ""
	}
	content = content[max(0, len(content)-tailBytes):]
	return fmt.Sprintf("\nend of %s:\n%s", filepath.Base(file), strings.TrimSpace(string(content)))
}

func (c *Cluster) waitEtcd(ctx context.Context) error {
	return c.wait(ctx, Etcd, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", c.file("etcd.sock"))
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

func (c *Cluster) waitAPIServer(ctx context.Context) error {
	return c.wait(ctx, APIServer, c.ask("/readyz"))
}

// waitControllers waits for the first thing that pods need from the controller manager.
func (c *Cluster) waitControllers(ctx context.Context) error {
	return c.wait(ctx, ControllerManager, c.ask("/api/v1/namespaces/default/serviceaccounts/default"))
}

// ask makes a check of one address of the API server: anything but 200 is an error.
func (c *Cluster) ask(path string) func(context.Context) error {
	var client *http.Client
	var address string // of the client; the server may move while it is being waited for
	return func(ctx context.Context) error {
		if now := c.address(); client == nil || now != address {
			config, err := c.AdminConfig()
			if err != nil {
				return err
			}
			if client, err = rest.HTTPClientFor(config); err != nil {
				return fmt.Errorf("make client: %w", err)
			}
			address = now
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
		if err != nil {
			return fmt.Errorf("make request: %w", err)
		}
		answer, err := client.Do(request)
		if err != nil {
			return fmt.Errorf("ask API server: %w", err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("ask API server for %s: %s", path, answer.Status)
		}
		return nil
	}
}

// Ready asks the API server once whether it is ready.
func (c *Cluster) Ready(ctx context.Context) error { return c.ask("/readyz")(ctx) }

// AdminConfig is the way into the cluster for the lab's own clients.
func (c *Cluster) AdminConfig() (*rest.Config, error) {
	content, err := c.AdminKubeconfig()
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 200, 400 // the server is ours alone and protects itself
	return config, nil
}
