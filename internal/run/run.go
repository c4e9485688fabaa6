// Package run is what every program does around its work: signals become a cancelled context,
// errors an exit code, and the parts of a program start and stop together.
package run

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes of our programs.
const (
	exitOK     = 0
	exitFailed = 1
	exitMisuse = 2 // the command line or the environment is wrong; starting again does not help
)

// misuse marks an error that the caller of the program has to mend.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// Misuse marks an error as a wrong command line or environment: the program ends with code 2.
func Misuse(err error) error { return misuse{err} }

// Main runs a program to its end and leaves the process with its exit code. SIGINT and SIGTERM
// cancel the context; a second signal ends the process at once. Asking for help
// (flag.ErrHelp) is a success. The error is printed on one line with the program's name before it.
func Main(name string, start func(ctx context.Context, args []string) error) {
	os.Exit(execute(name, os.Args[1:], os.Stderr, start))
}

func execute(name string, args []string, stderr io.Writer, start func(context.Context, []string) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// The handler is removed with the first signal, so the second has its default effect.
	context.AfterFunc(ctx, stop)
	err := start(ctx, args)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitOK // it was asked to stop and did
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	if errors.As(err, new(misuse)) {
		return exitMisuse
	}
	return exitFailed
}
