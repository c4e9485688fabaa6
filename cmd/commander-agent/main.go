// Command commander-agent connects a managed cluster to Commander.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"commander/agents/agentapi"
	agent "commander/agents/commander"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

// version is set by the linker.
var version = "dev"

type options struct {
	CommanderURL string        `flag:"commander-url" required:"true" help:"https://<commander>/agent_api/<cluster uuid>"`
	TokenFile    string        `flag:"token-file" required:"true" help:"file with the token for Commander, read before each request"`
	CAFile       string        `flag:"ca-file" help:"PEM certificates to trust instead of the system's"`
	Kubeconfig   string        `flag:"kubeconfig" help:"how to reach the API server; empty means as a pod of the cluster"`
	Listen       string        `flag:"listen" help:"address for /healthz, /readyz and /metrics; empty means none"`
	ReportEvery  time.Duration `flag:"report-interval" help:"pause between two reports; 0 means that Commander decides"`
	LogLevel     string        `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

const (
	// gcPercent keeps the heap close to what lives in it.
	gcPercent = 50
	// memoryGoal makes the collector work harder beyond it; the agent shall stay below 40 MiB.
	memoryGoal = 32 << 20
)

func main() { run.Main("commander-agent", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("COMMANDER_AGENT_", args, &o); err != nil {
		return err
	}
	debug.SetGCPercent(gcPercent)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "commander-agent")
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log)
	settings, err := o.settings(log)
	if err != nil {
		return run.Misuse(err)
	}
	return agent.Run(ctx, settings)
}

func (o options) settings(log *slog.Logger) (agent.Options, error) {
	var ca []byte
	if o.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(o.CAFile); err != nil {
			return agent.Options{}, fmt.Errorf("read CA of Commander: %w", err)
		}
	}
	commander, err := agentapi.NewClient(agentapi.ClientOptions{URL: o.CommanderURL, Token: o.token, CA: ca, Version: version})
	if err != nil {
		return agent.Options{}, err
	}
	cluster, err := o.cluster()
	if err != nil {
		return agent.Options{}, fmt.Errorf("read access to the API server: %w", err)
	}
	s := agent.Options{
		Commander: commander, Cluster: cluster, Version: version, Log: log,
		Registry: telemetry.Registry(), ReportEvery: o.ReportEvery,
	}
	if o.Listen != "" {
		if s.Listen, err = net.Listen("tcp", o.Listen); err != nil {
			return agent.Options{}, fmt.Errorf("listen for health and metrics: %w", err)
		}
	}
	return s, nil
}

func (o options) token() (string, error) {
	raw, err := os.ReadFile(o.TokenFile)
	if err != nil {
		return "", err
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return "", fmt.Errorf("%s is empty", o.TokenFile)
	}
	return string(raw), nil
}

func (o options) cluster() (*rest.Config, error) {
	if o.Kubeconfig == "" {
		return clusterOf(rest.InClusterConfig())
	}
	return clusterOf(clientcmd.BuildConfigFromFlags("", o.Kubeconfig))
}

// clusterOf keeps HTTPS_PROXY, which is meant for the way to Commander, out of the way to the API
// server. A proxy named in the kubeconfig stays.
func clusterOf(c *rest.Config, err error) (*rest.Config, error) {
	if err == nil && c.Proxy == nil {
		c.Proxy = http.ProxyURL(nil)
	}
	return c, err
}
