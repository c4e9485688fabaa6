// Package state keeps what an operation must remember: named entries, on disk while it runs
// and handed to the caller as one blob. The blob describes infrastructure: treat it as secret.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Cache is the state of one operation in a folder of its own, an entry a file. Each write is
// whole or absent, so that what is read after a crash was once written.
type Cache struct {
	dir string
}

// Open empties the folder and fills it with a blob that an earlier operation returned; an
// empty blob means that there was none.
func Open(dir, blob string) (*Cache, error) {
	entries, err := Decode(blob)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("empty state folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make state folder: %w", err)
	}
	c := &Cache{dir: dir}
	for name, value := range entries {
		if err := c.Write(name, value); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Read returns an entry, or nil when there is none.
func (c *Cache) Read(name string) ([]byte, error) {
	value, err := os.ReadFile(c.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state entry %s: %w", name, err)
	}
	return value, nil
}

// Write stores an entry, replacing what was there.
func (c *Cache) Write(name string, value []byte) error {
	half := filepath.Join(c.dir, writing+url.PathEscape(name))
	if err := os.WriteFile(half, value, 0o600); err != nil {
		return fmt.Errorf("write state entry %s: %w", name, err)
	}
	if err := os.Rename(half, c.file(name)); err != nil {
		return fmt.Errorf("write state entry %s: %w", name, err)
	}
	return nil
}

// Delete forgets an entry; one that is not there is no error.
func (c *Cache) Delete(name string) error {
	if err := os.Remove(c.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete state entry %s: %w", name, err)
	}
	return nil
}

// Snapshot reads all entries.
func (c *Cache) Snapshot() (map[string][]byte, error) {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("list state: %w", err)
	}
	entries := make(map[string][]byte, len(files))
	for _, file := range files {
		escaped, stored := strings.CutPrefix(file.Name(), entry)
		if !stored {
			continue
		}
		name, err := url.PathUnescape(escaped)
		if err != nil {
			return nil, fmt.Errorf("name state entry %s: %w", escaped, err)
		}
		if entries[name], err = c.Read(name); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// Blob is the snapshot in the form that Open takes.
func (c *Cache) Blob() (string, error) {
	entries, err := c.Snapshot()
	if err != nil {
		return "", err
	}
	return Encode(entries)
}

// Prefixes of file names: an escaped entry name alone could be "." or "..".
const (
	entry   = "e-"
	writing = "w-"
)

func (c *Cache) file(name string) string { return filepath.Join(c.dir, entry+url.PathEscape(name)) }

// Encode makes the blob of entries: JSON of name to base64.
func Encode(entries map[string][]byte) (string, error) {
	blob, err := json.Marshal(entries)
	if err != nil {
		return "", fmt.Errorf("encode state: %w", err)
	}
	return string(blob), nil
}

// Decode reads a blob.
func Decode(blob string) (map[string][]byte, error) {
	entries := map[string][]byte{}
	if strings.TrimSpace(blob) == "" {
		return entries, nil
	}
	if err := json.Unmarshal([]byte(blob), &entries); err != nil {
		return nil, fmt.Errorf("decode state: %w", err)
	}
	return entries, nil
}
