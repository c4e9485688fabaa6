package bundles_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"commander/agents/node/bashible/bundles"
	"commander/agents/node/bashible/render"
)

// shell runs steps with the library, as the runner does.
type shell struct {
	t   *testing.T
	dir string
}

func newShell(t *testing.T) shell {
	t.Helper()
	library, err := render.Library(bundles.Files)
	if err != nil {
		t.Fatal(err)
	}
	s := shell{t, t.TempDir()}
	s.put("library.sh", library)
	return s
}

func (s shell) put(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s shell) read(name string) string {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// run is the output of a step and whether it succeeded.
func (s shell) run(step string) (string, bool) {
	s.t.Helper()
	s.put("step.sh", step)
	command := exec.Command("/bin/bash", "--noprofile", "--norc", "-c",
		`set -Eeo pipefail; shopt -s inherit_errexit; source "$1"; source "$2"`, "step", "library.sh", "step.sh")
	command.Dir = s.dir
	command.Env = append(os.Environ(), "BASHIBLE_STATE_DIR="+s.dir, "BASHIBLE_STEP=step", "BB_OS_RELEASE="+filepath.Join(s.dir, "os-release"))
	out, err := command.CombinedOutput()
	return string(out), err == nil
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step, said string
		ok         bool
	}{
		"handlers run in order, once each": {
			"a() { echo a \"$@\"; }; b() { echo b \"$@\"; }\nbb-event-on e b; bb-event-on e a; bb-event-on e b\nbb-event-fire e 1 '2 3'", "b 1 2 3\na 1 2 3\n", true,
		},
		"who left is not called":       {"a() { echo a; }; b() { echo b; }\nbb-event-on e a; bb-event-on e b; bb-event-off e a\nbb-event-fire e", "b\n", true},
		"an event that nobody awaits":  {"bb-event-fire e; bb-event-delay f", "", true},
		"handlers without end":         {"a() { bb-event-fire e; }\nbb-event-on e a; bb-event-fire e", "error: event e: handlers fire each other without end\n", false},
		"delayed to the end, and once": {"a() { echo \"[$1]\"; }\nbb-event-on e a\nbb-event-delay e 'x y'; bb-event-delay e 'x y'; bb-event-delay e z\necho end", "end\n[x y]\n[z]\n", true},
		"delayed by a handler":         {"a() { bb-event-delay f; }; b() { echo b; }\nbb-event-on e a; bb-event-on f b; bb-event-delay e", "b\n", true},
		"a delayed handler fails":      {"a() { false; echo no; }\nbb-event-on e a; bb-event-delay e", "", false},
		"a command in a pipe fails":    {"false | true\necho no", "", false},
		"a command in $() fails":       {"x=$(false; echo y)\necho no", "", false},
		"a command in a function":      {"f() { false; echo no; }\nf", "", false},
		"an early end":                 {"echo yes; exit 0\necho no", "yes\n", true},
		"exit with a reason":           {"bb-exit 3 it is over", "error: it is over\n", false},
		"a default":                    {"A=x; bb-var A y; bb-var B z; echo $A $B", "x z\n", true},
		"flags":                        {"bb-flag? f && echo no; bb-flag-set f; bb-flag? f && echo set; bb-flag-unset f; bb-flag? f || echo unset", "set\nunset\n", true},
		"operating systems":            {"printf 'ID=debian\\nVERSION_ID=\"12\"\\n' >os-release\nbb-is-bundle? ubuntu debian && bb-is-bundle? debian-12 && ! bb-is-bundle? debian-11 ubuntu && echo yes", "yes\n", true},
		"another node":                 {"D8_NODE_HOSTNAME=me; bb-curl-helper-patch-node-metadata you labels a=b", "error: node you is not this node\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, ok := newShell(t).run(c.step)
			if said != c.said || ok != c.ok {
				t.Errorf("said %q, succeeded %t, want %q, %t", said, ok, c.said, c.ok)
			}
		})
	}
}

func TestSyncFile(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	const step = "changed() { echo changed >>log; }\nbb-event-on e changed\n"
	write := func(text string) { t.Helper(); s.put("source", text) }
	expect := func(when string, changes int, mode string) {
		t.Helper()
		if said, ok := s.run(step + "bb-sync-file sub/target source e"); !ok {
			t.Fatalf("%s: %s", when, said)
		}
		if got := strings.Count(s.read("log"), "changed"); got != changes || s.read("sub/target") != s.read("source") {
			t.Errorf("%s: told %d times, want %d; the content is %q", when, got, changes, s.read("sub/target"))
		}
		info, err := os.Stat(filepath.Join(s.dir, "sub/target"))
		if err != nil || info.Mode().String() != mode {
			t.Errorf("%s: got %v, %v, want mode %s", when, info.Mode(), err, mode)
		}
	}
	write("one\n")
	expect("a new file", 1, "-rw-r--r--")
	expect("the same again", 1, "-rw-r--r--")
	if err := os.Chmod(filepath.Join(s.dir, "sub/target"), 0o640); err != nil {
		t.Fatal(err)
	}
	write("two\n")
	expect("another content", 2, "-rw-r-----")

	// The step fails after the change: the next try, which changes nothing, still tells.
	write("three\n")
	if _, ok := s.run(step + "bb-sync-file sub/target source e\nfalse"); ok {
		t.Fatal("a step that fails succeeded")
	}
	expect("after a try that failed", 3, "-rw-r-----")
	expect("and once only", 3, "-rw-r-----")
	if said, ok := s.run("echo four | bb-sync-file sub/target -"); !ok || s.read("sub/target") != "four\n" {
		t.Errorf("from standard input: %q, %s", s.read("sub/target"), said)
	}
}
