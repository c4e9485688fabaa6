package bundles_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// watchdogScript is what the step of a fenced group installs.
func watchdogScript(t *testing.T) (step, script string) {
	t.Helper()
	step = rendered(t).Groups["full"].Steps["040_watchdog.sh"]
	_, rest, _ := strings.Cut(step, "<<'SCRIPT'\n")
	script, _, found := strings.Cut(rest, "\nSCRIPT\n")
	if !found {
		t.Fatalf("the step has no script:\n%s", step)
	}
	return step, script
}

// The software watchdog is loaded with the group's timeout and ends in a panic, one that was loaded
// before goes first, and a watchdog of the machine itself is left alone.
func TestWatchdogOfAGroup(t *testing.T) {
	t.Parallel()
	_, script := watchdogScript(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put("watchdog.sh", script)
	put("modprobe", "#!/bin/bash\necho \"modprobe $*\" >>"+path("log")+"\necho 'softdog 16384 0 - Live 0' >"+path("modules")+"\ntouch "+path("device")+"\n")
	put("rmmod", "#!/bin/bash\necho \"rmmod $*\" >>"+path("log")+"\n: >"+path("modules")+"\nrm -f "+path("device")+"\n")
	put("chown", "#!/bin/bash\necho \"chown $1\" >>"+path("log")+"\n")
	put("modules", "")
	run := func(args ...string) (string, bool) {
		t.Helper()
		put("log", "")
		command := exec.Command("/bin/bash", append([]string{path("watchdog.sh")}, args...)...)
		command.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "WATCHDOG_MODULES="+path("modules"), "WATCHDOG_DEVICE="+path("device"))
		said, err := command.CombinedOutput()
		did, _ := os.ReadFile(path("log")) // put before
		return string(did) + string(said), err == nil
	}
	for _, c := range []struct {
		what string
		args []string
		want string
		ok   bool
	}{
		{"loaded", []string{"start", "120"}, "modprobe softdog soft_margin=120 soft_panic=1\nchown 64535\n", true},
		{"loaded anew", []string{"start", "30"}, "rmmod softdog\nmodprobe softdog soft_margin=30 soft_panic=1\nchown 64535\n", true},
		{"unloaded", []string{"stop"}, "rmmod softdog\n", true},
		{"unloaded again", []string{"stop"}, "", true},
	} {
		if got, ok := run(c.args...); got != c.want || ok != c.ok {
			t.Errorf("%s: got %q, %t, want %q", c.what, got, ok, c.want)
		}
	}
	put("device", "")
	if got, ok := run("start", "30"); !ok || strings.Contains(got, "modprobe") {
		t.Errorf("with a watchdog of the machine: got %q, %t", got, ok)
	}
	if err := os.Remove(path("device")); err != nil {
		t.Fatal(err)
	}
	put("modprobe", "#!/bin/bash\necho no such module >&2\nexit 1\n")
	if got, ok := run("start", "30"); ok {
		t.Errorf("without the module: got %q and no failure", got)
	}
}

// The step passes the group's timeout on in seconds, and takes all away when the group is not fenced.
func TestWatchdogStep(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	step, _ := watchdogScript(t)
	inside := func(step string) string {
		return "systemctl() { echo systemctl \"$@\"; }\nchmod() { :; }\n" + strings.NewReplacer("/etc/", s.dir+"/etc/", "/opt/", s.dir+"/opt/").Replace(step)
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "opt/deckhouse/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	said, ok := s.run(inside(step))
	if unit := s.read("etc/systemd/system/nodegroup-watchdog.service"); !ok || !strings.Contains(unit, "nodegroup-watchdog.sh start 120\n") || !strings.Contains(said, "restart nodegroup-watchdog.service") {
		t.Errorf("got %q, %t and the unit %q", said, ok, unit)
	}
	if said, ok := s.run(inside(step)); !ok || said != "" {
		t.Errorf("again, with nothing to change: got %q, %t", said, ok)
	}
	said, ok = s.run(inside(rendered(t).Groups["plain"].Steps["040_watchdog.sh"]))
	if !ok || !strings.Contains(said, "disable -q --now nodegroup-watchdog.service") || s.read("etc/systemd/system/nodegroup-watchdog.service") != "" {
		t.Errorf("without fencing: got %q, %t", said, ok)
	}
}
