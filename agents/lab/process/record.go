package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// record is what a keeper leaves for the next one.
type record struct {
	Identity
	Fingerprint string `json:"fingerprint"`
}

// start starts the process and writes its record. The exit of the child is collected by the
// watcher, see kept.
func (k *Keeper) start(name string, plan Plan) (h *handle, print string, err error) {
	spec, print, err := plan.ask(true)
	if err != nil {
		return nil, "", fmt.Errorf("plan %s: %w", name, err)
	}
	cmd, err := spec.start(k.dir, k.LogFile(name), k.record(name))
	if err != nil {
		return nil, "", err
	}
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Wait()
		return nil, "", fmt.Errorf("start %s: it ended at once, see %s", name, k.LogFile(name))
	}
	h, err = watch(id)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, "", fmt.Errorf("start %s: %w", name, err)
	}
	h.child = cmd
	if err := k.write(name, record{id, print}); err != nil {
		_ = cmd.Process.Kill()
		h.reap()
		return nil, "", err
	}
	return h, print, nil
}

func (k *Keeper) write(name string, r record) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write record of %s: %w", name, err)
	}
	temporary := k.record(name) + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return fmt.Errorf("write record of %s: %w", name, err)
	}
	if err := os.Rename(temporary, k.record(name)); err != nil {
		return fmt.Errorf("write record of %s: %w", name, err)
	}
	return nil
}

// adopt finds the process in the record of an earlier keeper. It returns nil without an error if
// there is none or if it runs otherwise than wanted; such a process and strays are stopped.
func (k *Keeper) adopt(ctx context.Context, name, print string) (*handle, error) {
	if r, ok := k.read(name); ok && r.Fingerprint == print {
		h, err := watch(r.Identity)
		if err == nil {
			k.log.Info("adopted process", "process", name, "pid", r.PID)
			return h, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, k.stopStrays(ctx, name)
}

// read gives the record if it can be read; a torn one counts as none, the marker finds the process.
func (k *Keeper) read(name string) (record, bool) {
	content, err := os.ReadFile(k.record(name))
	if err != nil {
		return record{}, false
	}
	var r record
	return r, json.Unmarshal(content, &r) == nil
}

// stopStrays stops processes of the name that nobody keeps.
func (k *Keeper) stopStrays(ctx context.Context, name string) error {
	found, err := marked(filepath.Join(k.dir, "run"))
	if err != nil {
		return err
	}
	for _, id := range found[name+".json"] {
		h, err := watch(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		h.stop(ctx.Done())
		h.close()
	}
	return nil
}

// Strays names the processes of the directory that run without being kept.
func (k *Keeper) Strays() ([]string, error) {
	found, err := marked(filepath.Join(k.dir, "run"))
	if err != nil {
		return nil, err
	}
	var names []string
	for file := range found {
		name := strings.TrimSuffix(file, ".json")
		if _, ok := k.find(name); !ok {
			names = append(names, name)
		}
	}
	return names, nil
}
