// Command demo runs the whole product on one machine: PostgreSQL, an identity provider, the lab
// and Commander, with everything they keep in .demo. It ends when one of them does or when it is
// told to, and leaves no process behind.
package main

import (
	"context"
	"fmt"

	"commander/internal/config"
	"commander/internal/run"
)

// Config is what can be chosen about a demo.
type Config struct {
	Port        int    `flag:"port" default:"8443" help:"port of Commander; the identity provider and telemetry take the next two"`
	Host        string `flag:"host" default:"localhost" help:"name in the addresses; with another than localhost or 127.0.0.1 everything listens on all interfaces"`
	Dir         string `flag:"dir" default:".demo" help:"folder of what the demo keeps"`
	Cache       string `flag:"cache" default:".cache" help:"folder of the programs that are built from source once"`
	Bin         string `flag:"bin" default:"bin" help:"folder of our programs"`
	DatabaseURL string `flag:"database-url" env:"COMMANDER_DATABASE_URL" secret:"true" help:"PostgreSQL to use instead of one of the demo's own"`
}

// Validate refuses ports that leave none for the others.
func (c *Config) Validate() error {
	if c.Port < 1 || c.Port > 65533 {
		return fmt.Errorf("--port is %d, want 1 to 65533", c.Port)
	}
	return nil
}

func main() { run.Main("demo", start) }

func start(ctx context.Context, args []string) error {
	var c Config
	command, err := config.Load("COMMANDER_DEMO_", args, &c)
	if err != nil {
		return err
	}
	home, err := newHome(c.Dir, c.Cache, c.Bin)
	if err != nil {
		return err
	}
	switch {
	case len(command) == 0:
		return newDemo(c, home).run(ctx)
	case len(command) == 1 && command[0] == "reset":
		return home.reset()
	}
	return run.Misuse(fmt.Errorf("usage: demo [flags] [reset], got %q", command))
}
