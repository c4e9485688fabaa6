// Command lab owns the lab clusters of a machine.
//
//	lab serve --dir DIR --socket PATH --cache DIR --agent-binary PATH   the daemon
//	lab build --version v1.37 --cache DIR                              builds what clusters of a version need
//	lab list  --socket PATH                                            shows the clusters and their processes
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"syscall"

	"commander/agents/lab"
	"commander/agents/lab/build"
	"commander/agents/lab/daemon"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

// prefix of the environment variables.
const prefix = "LAB_"

var commands = map[string]func(context.Context, []string) error{"serve": serve, "build": buildAll, "list": list}

const usage = "usage: lab serve|build|list [flags], and -h after one of them for its flags"

func main() {
	run.Main("lab", func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return run.Misuse(errors.New(usage))
		}
		command, known := commands[args[0]]
		if !known {
			return run.Misuse(errors.New(usage))
		}
		return command(ctx, args[1:])
	})
}

type programs struct {
	Cache  string `flag:"cache" default:".cache" help:"folder where built programs are kept"`
	Source string `flag:"source" default:"agents/lab" help:"folder with the modules of the programs, agents/lab of this product's source"`
}

func (p programs) builder() build.Builder { return build.Builder{Cache: p.Cache, Source: p.Source} }

// load fills a configuration; a word too many is misuse.
func load(args []string, into any) error {
	rest, err := config.Load(prefix, args, into)
	if err == nil && len(rest) > 0 {
		err = run.Misuse(fmt.Errorf("unknown argument %q", rest[0]))
	}
	return err
}

func serve(ctx context.Context, args []string) error {
	var c struct {
		Dir          string `flag:"dir" required:"true" help:"folder where the clusters live"`
		Socket       string `flag:"socket" required:"true" help:"unix socket to answer on"`
		Agent        string `flag:"agent-binary" help:"the program commander-agent"`
		StopClusters bool   `flag:"stop-clusters" help:"end the clusters with the daemon; their data stays and they come back with it"`
		LogLevel     string `flag:"log-level" default:"info" oneof:"debug info warn error" help:"least level of messages"`
		Programs     programs
	}
	if err := load(args, &c); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, c.LogLevel, "lab")
	if err != nil {
		return err
	}
	syscall.Umask(0o077) // also for the sockets and files of the clusters' processes
	d, err := daemon.New(daemon.Config{
		Dir: c.Dir, Socket: c.Socket, Agent: c.Agent, StopClusters: c.StopClusters, Builder: c.Programs.builder(), Log: log,
	})
	if err != nil {
		return err
	}
	return d.Run(ctx)
}

func buildAll(ctx context.Context, args []string) error {
	var c struct {
		Version  string `flag:"version" help:"Kubernetes version; empty for the newest of the lab"`
		Programs programs
	}
	if err := load(args, &c); err != nil {
		return err
	}
	b := c.Programs.builder()
	b.Log = func(line string) { fmt.Fprintln(os.Stderr, line) }
	found, err := b.Ensure(ctx, c.Version)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "Kubernetes %s is ready: %s\n", found.Version, found.APIServer.Path)
	return nil
}

func list(ctx context.Context, args []string) error {
	var c struct {
		Socket string `flag:"socket" required:"true" help:"unix socket of the daemon"`
	}
	if err := load(args, &c); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	client := lab.NewClient(c.Socket)
	defer client.Close()
	ids, err := client.List(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		s, err := client.State(ctx, id)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%s  v%s  ready=%t  nodes=%d\n", id, s.ControlPlane.KubernetesVersion, s.Ready, len(s.Nodes))
		for _, p := range s.Processes {
			fmt.Fprintf(os.Stdout, "  %-24s pid %-7d restarts %d\n", p.Name, p.PID, p.Restarts)
		}
	}
	return nil
}
