// Command dhctl runs operations on clusters for Commander.
package main

import (
	"context"
	"errors"
	"fmt"

	"commander/internal/run"
)

const usage = "usage: dhctl server [flags] (-h explains them)"

func main() { run.Main("dhctl", start) }

func start(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return run.Misuse(errors.New(usage))
	}
	switch args[0] {
	case "server":
		return serve(ctx, args[1:])
	case "_server": // what serve starts for each operation
		return serveOne(ctx, args[1:])
	default:
		return run.Misuse(fmt.Errorf("%q is not a command; %s", args[0], usage))
	}
}
