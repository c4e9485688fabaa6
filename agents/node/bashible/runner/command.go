package runner

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/run"
)

// usage names what the program can do.
const usage = `bashible run         configure this node (what bashible.sh starts)
bashible watch       start bashible.service when the group's configuration changes
and for machines that are no nodes yet:
bashible script GROUP            print bashible.sh
bashible bootstrap-script GROUP  print what starts it for the first time
and for steps:
bashible approval    wait until this node may be changed
bashible disruption  wait until this node may be disturbed
bashible reboot      start the machine anew if a step asked for it
bashible kube        ask the API server: [-X METHOD] [-d BODY] [-H "Content-Type: …"] PATH
bashible package     install | fetch | remove NAME:DIGEST …
bashible label       KEY=VALUE KEY- … of this node; annotate does the same with annotations`

// Main runs the program; its first argument says what to do. Output of steps and answers go to out.
func Main(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) == 0 {
		return run.Misuse(errors.New("say what to do:\n" + usage))
	}
	name, flags, rest := args[0], args[1:], []string(nil)
	if name != "run" && name != "watch" { // their arguments are their own, and not flags
		flags, rest = nil, flags
	}
	var s Settings
	if _, err := config.Load(Prefix, flags, &s); err != nil {
		return err
	}
	if name == "package" {
		return packageCommand(ctx, &s, rest)
	}
	// The log is for journalctl, so it is text; the time is the journal's.
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	r, err := New(&s, clock.System{}, logger, out)
	if err != nil {
		return err
	}
	switch name {
	case "run":
		return r.Pass(ctx)
	case "watch":
		return r.Watch(ctx, func(ctx context.Context) error { return systemctl(ctx, "start", "--no-block", "bashible.service") })
	case "approval":
		return r.Approval(ctx)
	case "disruption":
		return r.Disruption(ctx)
	case "reboot":
		return r.Reboot(ctx)
	case "kube":
		return r.kubeCommand(ctx, rest)
	case "script":
		return r.printScript(ctx, bashiblesPath, rest)
	case "bootstrap-script":
		return r.printScript(ctx, bootstrapPath, rest)
	case "label":
		return r.metadataCommand(ctx, "labels", rest)
	case "annotate":
		return r.metadataCommand(ctx, "annotations", rest)
	}
	return run.Misuse(fmt.Errorf("no command %q:\n%s", name, usage))
}

// ExitCode of the program for an error of Main.
func ExitCode(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrWaiting), errors.Is(err, ErrReplaced):
		return ExitWaiting
	}
	return 1
}

// Exit ends the program with an error of Main said.
func Exit(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bashible:", err)
	}
	os.Exit(ExitCode(err))
}
