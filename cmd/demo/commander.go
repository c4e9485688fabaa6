package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// The workspace that the demo makes.
const (
	workspace     = "demo"
	workspaceName = "Demo"
)

// environment hands the secrets of Commander over: arguments can be read by every user.
func (d *demo) environment() []string {
	return []string{"COMMANDER_DATABASE_URL=" + d.databaseURL}
}

// storeArguments are those of every command of Commander that opens the database.
func (d *demo) storeArguments() []string { return []string{"--keys-dir=" + d.path("keys")} }

func (d *demo) commanderArguments() []string {
	return append(d.storeArguments(),
		"--roles=all",
		"--listen="+d.addresses.on(d.addresses.port), "--telemetry-listen="+d.addresses.telemetryListen(),
		"--public-url="+d.addresses.commander(),
		"--tls-cert="+d.path("pki", "server.crt"), "--tls-key="+d.path("pki", "server.key"),
		"--ca-file="+d.path("pki", "ca.crt"),
		"--oidc-issuer="+d.addresses.issuer(), "--oidc-client-id="+clientID,
		"--oidc-client-secret-file="+d.path("keys", "oidc-client-secret"), "--oidc-ca-file="+d.path("pki", "ca.crt"),
		"--first-admin="+adminEmail,
		"--run-dir="+d.runDir, "--dhctl-binary="+d.ours("dhctl"), "--connector-binary="+d.ours("ampg-connector"),
		"--lab-socket="+d.labSocket(),
		"--webhook-networks=127.0.0.0/8,::1/128", // whoever tries webhooks here listens on this machine
	)
}

func (d *demo) labArguments() []string {
	return []string{
		"serve", "--socket=" + d.labSocket(), "--dir=" + d.path("lab"), "--cache=" + d.cache,
		"--source=" + d.labSource, "--agent-binary=" + d.ours("commander-agent"),
		"--stop-clusters", // they come back with their data on the next start
	}
}

func (d *demo) migrate(ctx context.Context) error {
	_, err := d.command(ctx, "migrate")
	return err
}

// tokens are the API tokens of the demo's workspace.
type tokens struct{ full, readOnly string }

// seed makes the encryption keys, the workspace, the viewer's role and the API tokens. All of it may be repeated;
// tokens of an earlier start are kept, since only their hashes are in the database.
func (d *demo) seed(ctx context.Context) (tokens, error) {
	if _, err := d.command(ctx, "seed", "--workspace="+workspace, "--name="+workspaceName); err != nil {
		return tokens{}, err
	}
	if _, err := d.command(ctx, "grant", "--issuer="+d.addresses.issuer(), "--subject="+subject(viewerID),
		"--role=read-only", "--workspace="+workspace); err != nil {
		return tokens{}, err
	}
	if kept, ok := d.keptTokens(); ok {
		return kept, nil
	}
	var t tokens
	for _, token := range []struct {
		role string
		into *string
	}{{"full", &t.full}, {"read-only", &t.readOnly}} {
		secret, err := d.command(ctx, "token", "create", "--workspace="+workspace, "--role="+token.role, "--name=demo "+token.role)
		if err != nil {
			return t, err
		}
		*token.into = secret
	}
	return t, nil
}

// command runs a command of Commander to its end and returns what it printed.
func (d *demo) command(ctx context.Context, words ...string) (string, error) {
	var problems bytes.Buffer
	cmd := exec.CommandContext(ctx, d.ours("commander"), append(words, d.storeArguments()...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), d.environment()...), &problems
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("commander %s: %w: %s", words[0], err, strings.TrimSpace(problems.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
