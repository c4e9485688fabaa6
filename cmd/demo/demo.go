package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"commander/internal/clock"
	"commander/internal/postgres"
)

// readyBound is how long everything together may take to answer once it is built.
const readyBound = 2 * time.Minute

// demo is a running demo: what it has started so far, in the order in which it stops.
type demo struct {
	*home
	config    Config
	addresses addresses
	secrets   secrets
	runDir    string
	foreign   foreignPrograms

	commander, lab, dex *child
	database            *postgres.Server // nil if somebody else's is used
	databaseURL         string
	tokens              tokens
}

func newDemo(c Config, h *home) *demo {
	return &demo{home: h, config: c, addresses: addressesOf(c), databaseURL: c.DatabaseURL}
}

func say(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) }

// run sets everything up, tells where it is and waits until it is told to stop or a part of it
// ends. Then it ends all that it has started.
func (d *demo) run(ctx context.Context) (err error) {
	ctx, release := signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal was closed
	defer release()
	// Who is told twice, or has nobody to print to any more, goes on stopping in order.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	if err := d.open(); err != nil {
		return err
	}
	if err := adopt(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.prepare(ctx); err != nil {
		return err
	}
	if err := d.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // told to stop while it started
		}
		return err
	}
	if err := d.writeEnvironment(); err != nil {
		return err
	}
	d.printScreen()
	go reapOrphans(ctx)
	select {
	case <-ctx.Done():
		fmt.Println("\n  stopping")
		return nil
	case <-d.commander.exited:
		return d.commander.gone()
	case <-d.lab.exited:
		return d.lab.gone()
	case <-d.dex.exited:
		return d.dex.gone()
	case <-d.databaseExited():
		return fmt.Errorf("PostgreSQL ended; its log is beside its data")
	}
}

// prepare does what needs no process: it looks for what is missing first, so that nobody waits
// ten minutes for a build to hear that a port is taken.
func (d *demo) prepare(ctx context.Context) (err error) {
	for _, port := range []int{d.addresses.port, d.addresses.dexPort, d.addresses.telemetryPort} {
		if err := needPort(d.addresses.bind(), port, d.addresses.port); err != nil {
			return err
		}
	}
	if err := errors.Join(needSpace(d.dir, spaceToRun, "the demo"), d.needOurs()); err != nil {
		return err
	}
	if d.foreign, err = d.home.foreign(ctx, say); err != nil {
		return err
	}
	if d.runDir, err = d.home.runDir(); err != nil {
		return err
	}
	if d.secrets, err = d.home.secrets(); err != nil {
		return err
	}
	return errors.Join(
		d.pki(clock.System{}.Now(), certificateNames(d.addresses.host)),
		d.writeIdentity(d.addresses, d.secrets),
		d.link("kubectl", d.foreign.kubectl),
	)
}

// start starts the parts that do not need each other side by side, then Commander.
func (d *demo) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	parts, within := errgroup.WithContext(ctx)
	if d.databaseURL == "" {
		parts.Go(func() (err error) {
			if d.database, err = d.startDatabase(within, say); err == nil {
				d.databaseURL = d.database.URL(databaseName)
			}
			return err
		})
	}
	parts.Go(func() (err error) {
		if d.dex, err = d.spawn("dex", nil, d.foreign.dex, d.path("dex.json")); err != nil {
			return err
		}
		return d.dex.until(within, d.answers(d.addresses.issuer()+"/.well-known/openid-configuration"))
	})
	parts.Go(func() (err error) {
		d.lab, err = d.spawn("lab", nil, d.ours("lab"), d.labArguments()...)
		if err != nil {
			return err
		}
		return d.lab.until(within, listens(d.labSocket()))
	})
	if err := parts.Wait(); err != nil {
		return err
	}
	err := d.migrate(ctx)
	if err != nil {
		return err
	}
	if d.tokens, err = d.seed(ctx); err != nil {
		return err
	}
	if d.commander, err = d.spawn("commander", d.environment(), d.ours("commander"), d.commanderArguments()...); err != nil {
		return err
	}
	if err := d.commander.until(ctx, d.answers(d.addresses.telemetry()+"/readyz")); err != nil {
		return err
	}
	return d.commander.until(ctx, d.answers(d.addresses.commander()+"/"))
}

// stop ends all parts, each before those it needs, and then whatever they have left behind.
func (d *demo) stop() error {
	problem := errors.Join(d.commander.stop(), d.lab.stop(), d.dex.stop())
	if d.database != nil {
		problem = errors.Join(problem, d.database.Stop())
	}
	endDescendants(stopBound)
	return problem
}

func (d *demo) databaseExited() <-chan struct{} {
	if d.database == nil {
		return nil // somebody else watches it
	}
	return d.database.Exited()
}

func (d *demo) ours(name string) string { return filepath.Join(d.bin, name) }

func (d *demo) labSocket() string { return filepath.Join(d.runDir, "lab.sock") }

// answers asks an address of ours, by way of the loopback interface and the demo's authority.
func (d *demo) answers(address string) func(context.Context) error {
	client, problem := d.client()
	return func(ctx context.Context) error {
		if problem != nil {
			return problem
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		if err := answer.Body.Close(); err != nil {
			return err
		}
		if answer.StatusCode >= http.StatusBadRequest {
			return fmt.Errorf("%s answers %s", address, answer.Status)
		}
		return nil
	}
}
