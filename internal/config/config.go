// Package config fills one struct a program from flags and the environment, by the tags of its
// fields:
//
//	Listen string `flag:"listen" default:"127.0.0.1:8443" help:"address to serve on"`
//
// Each flag can also be given as an environment variable: the program's prefix and the flag's
// name in capitals (COMMANDER_LISTEN); the flag wins. Further tags: required:"true",
// oneof:"debug info", secret:"true" (never printed) and env:"OTHER_NAME". Fields may be of type
// string, bool, int, int64, float64, time.Duration, []string (separated by commas) or implement
// encoding.TextUnmarshaler; structs inside are walked.
package config

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"commander/internal/run"
)

// Validator is a configuration that knows more rules than its tags can say.
type Validator interface{ Validate() error }

// Load fills the struct that into points to and returns the arguments after the flags. Errors
// are misuse (run.Misuse) and tell all that is wrong at once; asking for -h prints the help and
// returns flag.ErrHelp.
func Load(prefix string, args []string, into any) ([]string, error) {
	return load(prefix, args, into, os.LookupEnv, os.Stderr)
}

func load(prefix string, args []string, into any, lookup func(string) (string, bool), help io.Writer) ([]string, error) {
	options, err := optionsOf(prefix, into)
	if err != nil {
		return nil, err
	}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints the error; help is our own
	var problems []error
	for _, o := range options {
		flags.Var(o, o.name, o.help)
		from, value := "default", o.fallback
		if given, ok := lookup(o.env); ok && given != "" {
			from, value = o.env, given
		}
		if value == "" {
			continue
		}
		if err := o.Set(value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", from, err))
		}
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		printHelp(help, options)
		return nil, err
	} else if err != nil {
		problems = append(problems, err)
	}
	for _, o := range options {
		problems = append(problems, o.check())
	}
	if v, ok := into.(Validator); ok && errors.Join(problems...) == nil {
		problems = append(problems, v.Validate())
	}
	if err := errors.Join(problems...); err != nil {
		return nil, run.Misuse(fmt.Errorf("read configuration: %w", err))
	}
	return flags.Args(), nil
}

func (o *option) check() error {
	switch value := o.String(); {
	case o.required && value == "":
		return fmt.Errorf("--%s (or %s) is required: %s", o.name, o.env, o.help)
	case len(o.oneof) > 0 && value != "" && !slices.Contains(o.oneof, value):
		return fmt.Errorf("--%s (or %s) is %q, want one of: %s", o.name, o.env, value, strings.Join(o.oneof, ", "))
	}
	return nil
}

func printHelp(w io.Writer, options []*option) {
	fmt.Fprintln(w, "Flags, each also as an environment variable:")
	for _, o := range options {
		fmt.Fprintf(w, "  --%s  (%s)\n        %s", o.name, o.env, o.help)
		switch {
		case o.required:
			fmt.Fprint(w, " (required)")
		case o.fallback != "":
			fmt.Fprintf(w, " (default %s)", o.fallback)
		}
		fmt.Fprintln(w)
	}
}

// Describe gives each setting as name and value for a line in the log, with secrets masked and
// passwords cut out of addresses.
func Describe(of any) []any {
	options, err := optionsOf("", of)
	if err != nil {
		return []any{"config", err.Error()}
	}
	attrs := make([]any, 0, 2*len(options))
	for _, o := range options {
		attrs = append(attrs, o.name, o.printable())
	}
	return attrs
}
