package kubelet

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestShell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		command []string
		in      string
		out     string
		code    int
	}{
		{"echo", []string{"echo", "a", "b"}, "", "a b\n", 0},
		{"its pod", []string{"hostname"}, "", "web-1\n", 0},
		{"script", []string{"sh", "-c", "echo 'a  b'; exit 3; echo c"}, "", "a  b\n", 3},
		{"script with more flags", []string{"/bin/bash", "-ec", "false"}, "", "", 1},
		{"lines of its input", []string{"sh"}, "echo a\nwhoami\n", "a\nnobody\n", 0},
		{"repeats its input", []string{"cat"}, "text", "text", 0},
		{"no files", []string{"cat", "/etc/passwd"}, "", "", 0},
		{"no programs", []string{"/bin/ls"}, "", "sh: /bin/ls: not found (this container is played by the lab)\n", 127},
		{"no substitution", []string{"sh", "-c", "echo $(id) `id` | cat"}, "", "$(id) `id` | cat\n", 0},
		{"nothing", nil, "", "", 2},
		{"-c without a command", []string{"sh", "-c"}, "", "sh: -c needs a command\n", 2},
		{"bad exit", []string{"exit", "many"}, "", "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			s := newShell(container{"default", "web-1", "web"}, strings.NewReader(c.in), &out, &out, false)
			if code := s.run(t.Context(), c.command); code != c.code || out.String() != c.out {
				t.Errorf("got %q and code %d, want %q and %d", out.String(), code, c.out, c.code)
			}
		})
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newShell(container{"default", "web-1", "web"}, strings.NewReader("echo hi\rexit 4\r"), &out, nil, true)
	if code := s.run(t.Context(), []string{"sh"}); code != 4 || !strings.Contains(out.String(), "\r\nhi\r\n") {
		t.Errorf("got %q and code %d, want hi on a line of its own and 4", out.String(), code)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                   nil,
		"  a  b ":            {"a", "b"},
		`echo "a b" 'c "d"'`: {"echo", "a b", `c "d"`},
		`echo ""`:            {"echo", ""},
	} {
		if got := split(line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
