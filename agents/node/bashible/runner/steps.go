package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"commander/agents/node/api"
)

// tracedFrom is the try of a step from which on it is traced.
const tracedFrom = 4

// ExitWaiting is how a step's process ends that has to wait for somebody; it is EX_TEMPFAIL of
// sysexits.h. The run ends without a complaint.
const ExitWaiting = 75

// preamble runs in a shell of its own for each step: library, then step. A command that fails ends
// it, wherever it stands.
const preamble = `set -Eeo pipefail; shopt -s inherit_errexit; source "$1"; source "$2"`

// runSteps runs all in the order of their names, each until it succeeds.
func (r *Run) runSteps(ctx context.Context) error {
	entries, err := os.ReadDir(r.file(stepsDir))
	if err != nil {
		return fmt.Errorf("list steps: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	for _, name := range names {
		if err := r.runStep(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) runStep(ctx context.Context, name string) error {
	for try := 1; ; try++ {
		r.log.Info("step", "name", name, "try", try)
		err := r.execute(ctx, name, try >= tracedFrom)
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == ExitWaiting {
			return fmt.Errorf("step %s: %w", name, ErrWaiting)
		}
		r.log.Error("step failed", "name", name, "try", try, "error", err)
		said := r.read(stepLog)
		r.event(ctx, "Warning", eventStepFailed, name+": "+err.Error()+"\n"+said[max(0, len(said)-noteMost+len(name)+50):])
		r.tell(ctx, api.ConditionBashibleReady, false, api.ReasonStepsFailed, name)
		if r.MaxRetries > 0 && try >= r.MaxRetries {
			return fmt.Errorf("step %s: %w", name, errors.Join(errGaveUp, err))
		}
		if err := r.pause(ctx); err != nil {
			return err
		}
	}
}

// execute runs one step. What it says on standard error goes to step.log too, and a trace of it
// to step.debug.log.
func (r *Run) execute(ctx context.Context, name string, traced bool) error {
	log, err := os.OpenFile(r.file(stepLog), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log of steps: %w", err)
	}
	defer log.Close()
	script := preamble
	command := exec.CommandContext(ctx, r.Shell, "--noprofile", "--norc", "-c", script, name, r.file(libraryFile), filepath.Join(r.file(stepsDir), name))
	if traced {
		debug, err := os.OpenFile(r.file(debugLog), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("open trace of steps: %w", err)
		}
		defer debug.Close()
		command.ExtraFiles = []*os.File{debug}
		command.Args[4] = "BASH_XTRACEFD=3; set -x; " + script
	}
	command.Env = append(os.Environ(), r.environment(name)...)
	command.Stdout, command.Stderr = r.out, io.MultiWriter(r.out, log)
	return command.Run()
}

// environment is what the library and the runner that it calls go by.
func (r *Run) environment(step string) []string {
	self, err := os.Executable()
	if err != nil {
		self = "bashible"
	}
	first := "no"
	if r.has(firstRunFile) {
		first = "yes"
	}
	return []string{
		"BASHIBLE_RUNNER=" + self, "BASHIBLE_STEP=" + step, "FIRST_BASHIBLE_RUN=" + first, "NODE_GROUP=" + r.Group, "D8_NODE_HOSTNAME=" + r.node,
		"BASHIBLE_STATE_DIR=" + r.State, "BASHIBLE_MAX_RETRIES=" + strconv.Itoa(r.MaxRetries), "BASHIBLE_PAUSE=" + r.Pause.String(),
		"BASHIBLE_KUBELET_CONF=" + r.KubeletConf, "BASHIBLE_KUBELET_CERT=" + r.KubeletCert, "BASHIBLE_API_SERVERS=" + strings.Join(r.APIServers, ","),
		"BASHIBLE_PACKAGES_PROXY_ADDRESSES=" + strings.Join(r.Packages, ","), "BASHIBLE_PACKAGES_PROXY_TOKEN=" + r.PackagesToken,
		"BASHIBLE_PACKAGES_PROXY_CA=" + r.PackagesCA, "BASHIBLE_PACKAGES_DIR=" + r.PackagesDir, "BASHIBLE_UPTIME_FILE=" + r.Uptime,
	}
}

// valid says that a download is a script: an error page or half a file must not run as root.
func valid(script []byte) bool {
	line, _, more := bytes.Cut(script, []byte("\n"))
	return more && len(bytes.TrimSpace(script)) > len(line) && bytes.HasPrefix(line, []byte("#!/")) && bytes.HasSuffix(bytes.TrimSpace(line), []byte("bash"))
}
