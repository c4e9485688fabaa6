// Command bashible makes a machine what the nodes of its group shall be. Without a C library and
// small, it runs from a timer on every node.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"commander/agents/node/bashible/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := runner.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	runner.Exit(err)
}
