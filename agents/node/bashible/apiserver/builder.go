package apiserver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"commander/agents/node/bashible/render"
)

// again is when what could not be read or published is tried anew.
const again = 5 * time.Second

// Builder renders whenever an input changes, and publishes what it rendered.
type Builder struct {
	Sources   Sources
	Templates fs.FS
	Served    *Served
	Publish   func(context.Context, render.Everything) error
	Log       *slog.Logger
	// Dump is a folder for context.yaml, the input as it was last seen, and context.error, why it
	// was not rendered; empty means none.
	Dump string

	changed   chan struct{}
	last      [sha256.Size]byte // of the input that was rendered last, well or not
	published bool
}

// Changed tells the builder that an input may be different. It never blocks.
func (b *Builder) Changed() {
	select {
	case b.changed <- struct{}{}:
	default: // it will look anyway
	}
}

// Run builds until the context ends.
func (b *Builder) Run(ctx context.Context) error {
	retry := time.NewTimer(0)
	defer retry.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.changed:
		case <-retry.C:
		}
		if err := b.build(ctx); err != nil && ctx.Err() == nil {
			if err.Error() != said { // the same trouble every few seconds is said once
				b.Log.Error("configurations stay as they are", "error", err)
			}
			said = err.Error()
			retry.Reset(again)
			continue
		}
		said = ""
	}
}

// build keeps what is served if anything fails.
func (b *Builder) build(ctx context.Context) error {
	in, locked, err := b.Sources.read(ctx)
	if err != nil {
		return err
	}
	if locked && b.Served.Load() != nil {
		b.Log.Debug("locked: a change waits")
		return nil
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("hash input: %w", err)
	}
	if hash := sha256.Sum256(raw); hash != b.last {
		b.dump("context.yaml", raw)
		b.last = hash
		all, err := render.All(in, b.Templates, b.Log)
		if err != nil {
			b.dump("context.error", []byte(err.Error()+"\n"))
			b.Log.Error("configurations stay as they were: this input cannot be rendered", "error", err)
			return nil // the next try would end the same way
		}
		b.Served.Store(&all)
		b.published = false
		b.Log.Info("configurations rendered", "groups", len(all.Groups))
	}
	// A new server under lock has something to serve, but what nodes go by is still the old one's.
	if b.published || locked || b.Served.Load() == nil {
		return nil
	}
	if err := b.Publish(ctx, *b.Served.Load()); err != nil {
		return err
	}
	b.published = true
	return nil
}

func (b *Builder) dump(name string, text []byte) {
	if b.Dump == "" {
		return
	}
	if err := errors.Join(os.MkdirAll(b.Dump, 0o700), os.WriteFile(filepath.Join(b.Dump, name), text, 0o600)); err != nil {
		b.Log.Warn("no copy of the input for looking into", "error", err)
	}
}
