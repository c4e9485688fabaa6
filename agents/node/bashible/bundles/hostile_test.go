package bundles_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"commander/agents/node/bashible/bundles"
	"commander/agents/node/bashible/render"
)

// hostile would write to $CANARY wherever a shell took any of it for a command: out of either kind
// of quotes, expanded, behind the end of a here-document, or computed.
const hostile = "a[$(: >$CANARY)]'; : >$CANARY; '\"; : >$CANARY; \"$(: >$CANARY)`: >$CANARY`\\$(: >$CANARY)\n" +
	"CONF\n: >$CANARY\nUNIT\n: >$CANARY\nKEYS\n: >$CANARY\nCA\n: >$CANARY\nRULES\n: >$CANARY\n# Gi"

// prelude lets a script run through without doing anything: no program is found, and that is no error.
const prelude = `command_not_found_handle() { return 0; }
for f in sync-file package-install event-on event-delay flag-set flag-unset log-error log-warning log-info 'is-bundle?' wait-for-approval deckhouse-get-disruptive-update-approval curl-kube; do
  eval "bb-$f() { :; }"
done
bb-flag?() { return 1; }
bb-exit() { exit "$1"; }
`

// commanded runs a script where it can do no harm and says whether any of the value was run, or
// tore the script apart.
func commanded(t *testing.T, script string) bool {
	t.Helper()
	check := exec.Command("/bin/bash", "-n")
	check.Stdin = strings.NewReader(script)
	if said, err := check.CombinedOutput(); err != nil || len(said) > 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "hostile") // not t.TempDir: others have to get into it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, change := range []error{os.Chmod(dir, 0o777), os.WriteFile(filepath.Join(dir, "bashible.sh"), []byte("#!/bin/bash\n"), 0o755)} {
		if change != nil {
			t.Fatal(change)
		}
	}
	script = strings.NewReplacer("set -Eeuo pipefail", "", "/var/lib/bashible", dir, "/opt/deckhouse/bin/bashible", "true").Replace(script)
	canary := filepath.Join(dir, "canary")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "/bin/bash", "--noprofile", "--norc", "-c", prelude+script)
	command.Dir = dir
	command.Env = []string{"PATH=/nonexistent", "CANARY=" + canary, "BASHIBLE_STATE_DIR=" + dir, "BASHIBLE_PACKAGES_DIR=" + dir, "BASHIBLE_RUNNER=true", "D8_NODE_HOSTNAME=n", "FIRST_BASHIBLE_RUN=yes"}
	if os.Getuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	_ = command.Run() // what it cannot do it cannot
	if ctx.Err() != nil {
		t.Errorf("a script does not end:\n%s", script)
	}
	_, err = os.Stat(canary)
	return err == nil
}

// leaves are the paths of all texts in a value.
func leaves(prefix string, v any) []string {
	var all []string
	switch v := v.(type) {
	case string:
		all = append(all, prefix)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leaves(prefix+"/"+key, v[key])...)
		}
	case []any:
		for i, inner := range v {
			all = append(all, leaves(fmt.Sprintf("%s/%d", prefix, i), inner)...)
		}
	}
	return all
}

// with is a copy of a value with a text in the place of one of its leaves.
func with(v any, prefix, path, text string) any {
	switch v := v.(type) {
	case string:
		if prefix == path {
			return text
		}
	case map[string]any:
		changed := map[string]any{}
		for key, inner := range v {
			changed[key] = with(inner, prefix+"/"+key, path, text)
		}
		return changed
	case []any:
		changed := make([]any, len(v))
		for i, inner := range v {
			changed[i] = with(inner, fmt.Sprintf("%s/%d", prefix, i), path, text)
		}
		return changed
	}
	return v
}

// Whatever stands in any field that steps are made of, it stays a value: none of it is run.
func TestHostileValuesStayValues(t *testing.T) {
	t.Parallel()
	for _, unsafe := range []string{"x=" + hostile, "cat <<CONF\n" + hostile + "\nCONF", "echo '" + hostile + "'", "x='a[$(: >$CANARY)]'; y=$((x))", "$(: >$CANARY)"} {
		if !commanded(t, unsafe) {
			t.Errorf("what this runs is not seen: %s", unsafe)
		}
	}
	if commanded(t, "echo 'one' \"two\" <<'END'\n$(: >$CANARY)\nEND\n") {
		t.Error("a safe script is taken for an unsafe one")
	}
	raw, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatal(err)
	}
	paths := leaves("", plain)
	if len(paths) < 40 {
		t.Fatalf("only %d fields: %v", len(paths), paths)
	}
	tried := 0
	for _, path := range paths {
		raw, err := json.Marshal(with(plain, "", path, hostile))
		if err != nil {
			t.Fatal(err)
		}
		var in render.Input
		if json.Unmarshal(raw, &in) != nil {
			continue // it could not even be written down
		}
		all, err := render.All(in, bundles.Files, slog.New(slog.NewTextHandler(io.Discard, nil)))
		if err != nil {
			continue // refused: nodes keep what they have
		}
		tried++
		for name, group := range all.Groups {
			for what, text := range map[string]string{"bashible.sh": group.Script, "bootstrap.sh": group.Bootstrap, "prerequisites.sh": group.Prerequisites} {
				if strings.Contains(text, "CANARY") && commanded(t, text) {
					t.Errorf("%s: run by %s of %q", path, what, name)
				}
			}
			var steps strings.Builder
			for step, text := range group.Steps {
				if strings.Contains(text, "CANARY") {
					fmt.Fprintf(&steps, "(\n%s\n) # %s\n", text, step)
				}
			}
			if steps.Len() > 0 && commanded(t, steps.String()) {
				t.Errorf("%s: run by a step of %q", path, name)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d fields were rendered", tried)
	}
}
