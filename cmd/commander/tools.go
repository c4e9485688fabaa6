package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/run"
	"commander/jobs"
	"commander/migrations"
	"commander/store"
)

func migrate(ctx context.Context, args []string) error {
	var o database
	if _, err := load(args, &o); err != nil {
		return err
	}
	log, err := o.logger()
	if err != nil {
		return err
	}
	pool, err := o.pool(ctx, 2)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := reach(ctx, pool, log); err != nil {
		return err
	}
	return migrations.Up(ctx, pool)
}

func waitPostgres(ctx context.Context, args []string) error {
	return wait(ctx, args, false)
}

func waitMigrations(ctx context.Context, args []string) error {
	return wait(ctx, args, true)
}

func wait(ctx context.Context, args []string, migrated bool) error {
	o := struct {
		database
		Timeout time.Duration `flag:"timeout" default:"5m" help:"how long to wait"`
	}{}
	if _, err := load(args, &o); err != nil {
		return err
	}
	log, err := o.logger()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	pool, err := o.pool(ctx, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := reach(ctx, pool, log); err != nil || !migrated {
		return err
	}
	return migrations.Wait(ctx, pool)
}

func runChore(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return run.Misuse(errors.New("name the periodic job to run"))
	}
	var o database
	if _, err := load(args[1:], &o); err != nil {
		return err
	}
	f, log, err := o.rules(ctx)
	if err != nil {
		return err
	}
	defer f.Store.Pool.Close()
	return jobs.RunChore(ctx, f, log, args[0])
}

// seed makes a workspace with the shipped templates, and the first encryption key when the folder
// has none.
func seed(ctx context.Context, args []string) error {
	o := struct {
		database
		Workspace string `flag:"workspace" required:"true" help:"slug of the workspace"`
		Name      string `flag:"name" help:"name of the workspace"`
	}{}
	if _, err := load(args, &o); err != nil {
		return err
	}
	if err := store.EnsureKeys(o.KeysDir); err != nil {
		return err
	}
	f, _, err := o.rules(ctx)
	if err != nil {
		return err
	}
	defer f.Store.Pool.Close()
	_, err = f.EnsureWorkspace(ctx, o.Workspace, o.Name)
	return err
}

func grant(ctx context.Context, args []string) error {
	o := struct {
		database
		Issuer    string `flag:"issuer" required:"true" help:"issuer of the person's sign-in"`
		Subject   string `flag:"subject" required:"true" help:"subject of the person at the issuer"`
		Role      string `flag:"role" required:"true" oneof:"full read-only" help:"what the person may do"`
		Workspace string `flag:"workspace" help:"slug of the workspace; empty for all of them"`
	}{}
	if _, err := load(args, &o); err != nil {
		return err
	}
	f, _, err := o.rules(ctx)
	if err != nil {
		return err
	}
	defer f.Store.Pool.Close()
	var where *uuid.UUID
	if o.Workspace != "" {
		workspace, err := f.Workspace(ctx, fleet.System, o.Workspace)
		if err != nil {
			return fmt.Errorf("find workspace %s: %w", o.Workspace, err)
		}
		where = &workspace.ID
	}
	return f.Grant(ctx, o.Issuer, o.Subject, where, store.Role(o.Role))
}

// createToken makes a token of the REST API and prints it: it is not shown again.
func createToken(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] != "create" {
		return run.Misuse(errors.New("the command is: token create"))
	}
	o := struct {
		database
		Workspace string        `flag:"workspace" required:"true" help:"slug of the workspace"`
		Role      string        `flag:"role" required:"true" oneof:"full read-only" help:"what the token may do"`
		Name      string        `flag:"name" required:"true" help:"name by which the history knows the token"`
		Lifetime  time.Duration `flag:"lifetime" help:"when it ends; zero for never"`
	}{}
	if _, err := load(args[1:], &o); err != nil {
		return err
	}
	f, _, err := o.rules(ctx)
	if err != nil {
		return err
	}
	defer f.Store.Pool.Close()
	workspace, err := f.Workspace(ctx, fleet.System, o.Workspace)
	if err != nil {
		return fmt.Errorf("find workspace %s: %w", o.Workspace, err)
	}
	_, secret, err := f.CreateToken(ctx, fleet.System, workspace.ID, o.Name, store.Role(o.Role), o.Lifetime)
	if err != nil {
		return err
	}
	fmt.Println(secret)
	return nil
}
