package build

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Builder builds targets into a cache folder. Several builders, in one process or many, may
// share a cache: they take turns.
type Builder struct {
	Cache  string // folder for the results
	Source string // folder with the modules of the targets, agents/lab of the product's source
	// Log gets one line of progress at a time; nil for none.
	Log func(line string)
}

// progressEvery is how often a running build says how far it is.
const progressEvery = 5 * time.Second

// Build compiles the target unless it is in the cache already, and returns its file. An
// interrupted build leaves nothing behind but Go's own cache, so the next one goes on from there.
func (b Builder) Build(ctx context.Context, t Target) (string, error) {
	output, err := filepath.Abs(filepath.Join(b.Cache, t.Output))
	if err != nil {
		return "", fmt.Errorf("find cache: %w", err)
	}
	if fits(ctx, output, t) {
		return output, nil
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return "", fmt.Errorf("create cache: %w", err)
	}
	unlock, err := b.lock(ctx, output+".lock", t)
	if err != nil {
		return "", err
	}
	defer unlock()
	if fits(ctx, output, t) { // the one before us in the queue built it
		return output, nil
	}
	temporary := fmt.Sprintf("%s.%d", output, os.Getpid())
	defer os.Remove(temporary) // only there if something went wrong
	if err := b.compile(ctx, t, temporary); err != nil {
		return "", err
	}
	if err := os.Chmod(temporary, 0o755); err != nil { // whatever the umask of whoever builds
		return "", fmt.Errorf("put %s into the cache: %w", t.Name, err)
	}
	if err := os.Rename(temporary, output); err != nil {
		return "", fmt.Errorf("put %s into the cache: %w", t.Name, err)
	}
	return output, nil
}

// fits tells whether a file is the wanted target. A target without a version fits if it is there.
func fits(ctx context.Context, file string, t Target) bool {
	if _, err := os.Stat(file); err != nil {
		return false
	}
	if t.Version == "" {
		return true
	}
	args := []string{"--version"}
	if t.Module == "kubernetes" {
		args = []string{"kube-scheduler", "--version"}
	}
	said, err := versionOf(ctx, file, args...)
	return err == nil && said == t.Version
}

func (b Builder) compile(ctx context.Context, t Target, output string) error {
	dir := filepath.Join(b.Source, t.Module)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("build %s: its module is not in %s: run this from the root of the source, or name agents/lab of it by --source", t.Name, dir)
	}
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("build %s: Go is not installed or not on the PATH: %w", t.Name, err)
	}
	b.say("%s: building from source (usually %s on two idle cores with nothing compiled before)", t.Name, t.Usual)
	total, err := b.count(ctx, dir, t)
	if err != nil {
		return err
	}
	cmd := goCommand(ctx, dir, t.command(output))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("build %s: %w", t.Name, err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("build %s: %w", t.Name, err)
	}
	said := b.follow(t, bufio.NewScanner(stderr), total, began)
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build %s: %w", t.Name, ctx.Err())
		}
		return fmt.Errorf("build %s: %w\n%s", t.Name, err, strings.Join(said, "\n"))
	}
	b.say("%s: built in %s", t.Name, time.Since(began).Round(time.Second))
	return nil
}

// count tells how many packages the target is made of; those that Go has compiled before are
// among them, so a build usually stays below.
func (b Builder) count(ctx context.Context, dir string, t Target) (int, error) {
	var stderr bytes.Buffer
	cmd := goCommand(ctx, dir, t.list())
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("list packages of %s: %w\n%s", t.Name, err, stderr.String())
	}
	return bytes.Count(out, []byte("\n")), nil
}

func goCommand(ctx context.Context, dir string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go ends its compilers itself
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func (b Builder) say(format string, args ...any) {
	if b.Log != nil {
		b.Log(fmt.Sprintf(format, args...))
	}
}
