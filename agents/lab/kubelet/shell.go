package kubelet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"
)

// shell is the harmless shell in every played container. It knows a few words, starts nothing and
// reads nothing but its input.
type shell struct {
	container
	in        io.Reader
	out, errs io.Writer
	tty       bool
}

func newShell(c container, in io.Reader, out, errs io.Writer, tty bool) *shell {
	if in == nil {
		in = strings.NewReader("")
	}
	if out == nil {
		out = io.Discard
	}
	if errs == nil {
		errs = io.Discard
	}
	return &shell{c, in, out, errs, tty}
}

// Exit codes, as shells have them.
const (
	exitFalse   = 1
	exitMisuse  = 2
	exitUnknown = 127
)

// shells are the names that people call a shell by.
var shells = []string{"sh", "bash", "ash", "/bin/sh", "/bin/bash", "/bin/ash"}

// run carries a command out and returns its exit code.
func (s *shell) run(ctx context.Context, command []string) int {
	if len(command) == 0 {
		return exitMisuse
	}
	if !slices.Contains(shells, command[0]) {
		code, _ := s.word(ctx, command)
		return code
	}
	for i, arg := range command[1:] {
		if strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, "c") { // -c, -ec, -lc
			if i+2 >= len(command) {
				fmt.Fprintln(s.errs, "sh: -c needs a command")
				return exitMisuse
			}
			return s.script(ctx, strings.NewReader(command[i+2]))
		}
	}
	if s.tty {
		return s.terminal(ctx)
	}
	return s.script(ctx, s.in)
}

// script carries out the lines of a text; the code of the last one counts.
func (s *shell) script(ctx context.Context, text io.Reader) int {
	lines := bufio.NewScanner(text)
	code := 0
	for lines.Scan() {
		for part := range strings.SplitSeq(lines.Text(), ";") {
			var exit bool
			if code, exit = s.word(ctx, split(part)); exit || ctx.Err() != nil {
				return code
			}
		}
	}
	return code
}

// terminal talks to a person, with the line editing that a terminal in raw mode needs.
func (s *shell) terminal(ctx context.Context) int {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.in, s.out}, s.pod+" $ ")
	s.out, s.errs = t, t // it ends lines as a terminal wants them
	fmt.Fprintln(t, "This container is played by the lab. Try help.")
	code := 0
	for ctx.Err() == nil {
		line, err := t.ReadLine()
		if err != nil {
			return code // closed, Ctrl-C or Ctrl-D
		}
		var exit bool
		if code, exit = s.word(ctx, split(line)); exit {
			return code
		}
	}
	return code
}

// word carries one command out; exit tells that it ends the shell.
func (s *shell) word(ctx context.Context, words []string) (code int, exit bool) {
	if len(words) == 0 {
		return 0, false
	}
	switch args := words[1:]; words[0] {
	case "echo":
		fmt.Fprintln(s.out, strings.Join(args, " "))
	case "hostname":
		fmt.Fprintln(s.out, s.pod)
	case "env", "printenv":
		fmt.Fprintf(s.out, "HOSTNAME=%s\nHOME=/\nPATH=/bin\n", s.pod)
	case "date":
		fmt.Fprintln(s.out, time.Now().UTC().Format(time.UnixDate))
	case "whoami":
		fmt.Fprintln(s.out, "nobody")
	case "pwd":
		fmt.Fprintln(s.out, "/")
	case "true", ":":
	case "false":
		return exitFalse, false
	case "cat":
		_, _ = io.Copy(s.out, s.in) // there are no files, so it repeats its input
	case "sleep":
		return s.sleep(ctx, args), false
	case "help":
		fmt.Fprintln(s.out, "cat date echo env exit false help hostname pwd sleep true whoami")
	case "exit":
		if len(args) > 0 {
			code, err := strconv.Atoi(args[0])
			if err != nil || code < 0 || code > 255 {
				return exitMisuse, true
			}
			return code, true
		}
		return 0, true
	default:
		fmt.Fprintf(s.errs, "sh: %s: not found (this container is played by the lab)\n", words[0])
		return exitUnknown, false
	}
	return 0, false
}

func (s *shell) sleep(ctx context.Context, args []string) int {
	if len(args) != 1 {
		return exitMisuse
	}
	seconds, err := strconv.ParseFloat(args[0], 64)
	if err != nil || seconds < 0 {
		return exitMisuse
	}
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return 0
	case <-ctx.Done():
		return exitFalse
	}
}

// split cuts a line into words; quotes keep a word together.
func split(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	inside := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inside = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words
}
