// Command commander is the control plane. Its roles can run in one process or in many:
//
//	commander web|live|worker|cluster-manager|cluster-checker|task-checker [flags]
//	commander --roles=all [flags]
//	commander migrate | wait-postgres | wait-migrations | run <periodic job>
//	commander seed | grant | token create
//
// Flags are read from the environment too: --database-url is COMMANDER_DATABASE_URL.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"commander/internal/run"
)

func main() { run.Main("commander", start) }

// commands are what runs to an end; everything else is roles.
var commands = map[string]func(ctx context.Context, args []string) error{
	"migrate":         migrate,
	"wait-postgres":   waitPostgres,
	"wait-migrations": waitMigrations,
	"run":             runChore,
	"seed":            seed,
	"grant":           grant,
	"token":           createToken,
}

func start(ctx context.Context, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return serve(ctx, args)
	}
	name, rest := args[0], args[1:]
	if command, known := commands[name]; known {
		return command(ctx, rest)
	}
	if slices.Contains(allRoles, name) {
		return serve(ctx, append([]string{"--roles=" + name}, rest...))
	}
	return run.Misuse(fmt.Errorf("there is no role or command %q; the roles are %s", name, strings.Join(allRoles, ", ")))
}
