package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Keeper keeps the processes of one directory: records in <dir>/run, logs in <dir>/log. There
// must be one keeper a directory at a time. Its methods may be called from several goroutines,
// but one process is to be ensured or stopped by one caller at a time.
type Keeper struct {
	dir string
	log *slog.Logger

	mu   sync.Mutex // protects kept
	kept map[string]*kept
}

// Status is how a process does.
type Status struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`      // 0 while it is not running
	Restarts int    `json:"restarts"` // times it died and was started again, since the keeper's start
}

// NewKeeper makes a keeper. Processes of an earlier keeper of the directory run on and are
// adopted by Ensure.
func NewKeeper(dir string, log *slog.Logger) (*Keeper, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find directory: %w", err)
	}
	for _, sub := range []string{"run", "log"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("create directory for processes: %w", err)
		}
	}
	return &Keeper{dir: dir, log: log, kept: map[string]*kept{}}, nil
}

// Ensure makes the named process run as the plan says and returns when it is started (not
// ready). A process that already runs so is kept, or adopted after a restart of the keeper; one
// that runs otherwise is stopped first. The plan is asked again at each start after a death.
func (k *Keeper) Ensure(ctx context.Context, name string, plan Plan) error {
	_, print, err := plan.ask(false)
	if err != nil {
		return fmt.Errorf("plan %s: %w", name, err)
	}
	if running, _ := k.find(name); running != nil {
		if running.runs(print) {
			return nil
		}
		if err := k.Stop(ctx, name); err != nil {
			return err
		}
	}
	if h, err := k.adopt(ctx, name, print); err != nil || h != nil {
		if err == nil {
			k.keep(name, plan, h, print)
		}
		return err
	}
	h, print, err := k.start(name, plan)
	if err != nil {
		return err
	}
	k.keep(name, plan, h, print)
	return nil
}

// Stop ends the named process and forgets it; one that does not run is no error. When ctx ends,
// the process is killed instead of waited for.
func (k *Keeper) Stop(ctx context.Context, name string) error {
	if running, _ := k.find(name); running != nil {
		k.mu.Lock()
		delete(k.kept, name)
		k.mu.Unlock()
		running.stop(ctx)
	}
	// Also what an earlier keeper started, with or without a record.
	if err := k.stopStrays(ctx, name); err != nil {
		return err
	}
	if err := os.Remove(k.record(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove record of %s: %w", name, err)
	}
	return nil
}

// Restart ends the named process; it is started again at once, by the plan of its Ensure.
func (k *Keeper) Restart(name string) {
	if running, ok := k.find(name); ok {
		running.restart()
	}
}

// Status lists the processes by name.
func (k *Keeper) Status() []Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]Status, 0, len(k.kept))
	for name, p := range k.kept {
		s := p.status()
		s.Name = name
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Close stops watching and leaves the processes running.
func (k *Keeper) Close() {
	k.mu.Lock()
	all := k.kept
	k.kept = map[string]*kept{}
	k.mu.Unlock()
	for _, p := range all {
		p.leave()
	}
}

// LogFile is where the output of a process goes.
func (k *Keeper) LogFile(name string) string { return filepath.Join(k.dir, "log", name+".log") }

func (k *Keeper) record(name string) string { return filepath.Join(k.dir, "run", name+".json") }

func (k *Keeper) find(name string) (*kept, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.kept[name]
	return p, ok
}

func (k *Keeper) keep(name string, plan Plan, h *handle, print string) {
	p := newKept(k, name, plan, h, print)
	k.mu.Lock()
	k.kept[name] = p
	k.mu.Unlock()
}
