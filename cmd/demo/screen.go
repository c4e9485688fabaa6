package main

import (
	"fmt"
	"os"
	"strings"
)

// writeEnvironment writes .demo/env for scripts: `set -a; . .demo/env`.
func (d *demo) writeEnvironment() error {
	lines := []string{
		"COMMANDER_URL=" + d.addresses.commander(),
		"COMMANDER_TOKEN=" + d.tokens.full,
		"COMMANDER_READ_TOKEN=" + d.tokens.readOnly,
		"COMMANDER_CA=" + d.path("pki", "ca.crt"),
		"COMMANDER_ADMIN_EMAIL=" + adminEmail,
		"COMMANDER_ADMIN_PASSWORD=" + d.secrets.AdminPassword,
		"COMMANDER_VIEWER_EMAIL=" + viewerEmail,
		"COMMANDER_VIEWER_PASSWORD=" + d.secrets.ViewerPassword,
		databaseMark + d.databaseMark(),
	}
	return write(d.path("env"), strings.Join(lines, "\n")+"\n")
}

// databaseMark begins the line that says in which database the tokens are known.
const databaseMark = "# database: "

// databaseMark tells the demo's own database, whose address changes, from somebody else's.
func (d *demo) databaseMark() string {
	if d.config.DatabaseURL == "" {
		return "own"
	}
	// Without what comes before the @, which holds the password.
	return d.config.DatabaseURL[strings.LastIndexByte(d.config.DatabaseURL, '@')+1:]
}

// keptTokens reads the tokens that an earlier start made in the same database.
func (d *demo) keptTokens() (tokens, bool) {
	text, err := os.ReadFile(d.path("env"))
	if err != nil {
		return tokens{}, false
	}
	var t tokens
	same := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "COMMANDER_TOKEN="):
			t.full = strings.TrimPrefix(line, "COMMANDER_TOKEN=")
		case strings.HasPrefix(line, "COMMANDER_READ_TOKEN="):
			t.readOnly = strings.TrimPrefix(line, "COMMANDER_READ_TOKEN=")
		case strings.HasPrefix(line, databaseMark):
			same = strings.TrimPrefix(line, databaseMark) == d.databaseMark()
		}
	}
	return t, same && t.full != "" && t.readOnly != ""
}

// printScreen says where everything is.
func (d *demo) printScreen() {
	fmt.Printf(`
  Commander is ready:  %s

  Sign in as           %s   %s   (administrator)
               or      %s  %s   (read-only)

  The browser warns of the certificate until you trust %s.
  kubectl              %s, with the kubeconfig that a cluster's page offers
  API                  set -a; . %s; curl --cacert $COMMANDER_CA -H "X-Auth-Token: $COMMANDER_TOKEN" $COMMANDER_URL/api/v1/clusters
  Logs                 %s, metrics at %s/metrics

  Everything is kept in %s. Ctrl-C stops it, "make demo" starts it again,
  "make demo-reset" forgets it.

`, d.addresses.commander(), adminEmail, d.secrets.AdminPassword, viewerEmail, d.secrets.ViewerPassword,
		d.path("pki", "ca.crt"), d.path("bin", "kubectl"), d.path("env"), d.path("log"), d.addresses.telemetry(), d.dir)
}
