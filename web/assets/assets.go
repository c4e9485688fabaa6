// Package assets serves the browser's part of the product: one style sheet, one script and an
// icon, each under an address that holds the hash of its content and may be kept for ever.
// `make assets` builds them into dist, which is embedded.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
)

//go:embed all:dist
var embedded embed.FS

// Prefix is the path that all files are served under.
const Prefix = "/assets/"

// Names of the files that every page needs.
const (
	Style  = "commander.css"
	Script = "app.js"
	Icon   = "favicon.svg"
	// Editor is the editor for YAML, which pages load when they have something to edit.
	Editor = "editor.js"
)

// ErrNotBuilt means that the program was built before its assets were.
var ErrNotBuilt = errors.New("the browser's files are missing: run `make assets` and build again")

// Set is the files as they are served. The zero Set has none.
type Set struct {
	source fs.FS
	live   bool // read again for every page, for whoever works on them
	loaded atomic.Pointer[index]
}

type index struct {
	urls  map[string]string // name to address
	files map[string]*file  // hashed name to content
}

type file struct {
	contentType string
	plain       []byte
	zipped      []byte // nil when it would not be smaller
	tag         string
}

// Embedded is the set inside the program. It fails with ErrNotBuilt when the assets were not there
// to be embedded.
func Embedded() (*Set, error) {
	dist, err := fs.Sub(embedded, "dist")
	if err != nil {
		return nil, fmt.Errorf("open embedded assets: %w", err)
	}
	return load(dist, false)
}

// Disk is the set in a folder, read again whenever an address is asked for.
func Disk(folder string) (*Set, error) { return load(os.DirFS(folder), true) }

func load(source fs.FS, live bool) (*Set, error) {
	s := &Set{source: source, live: live}
	if err := s.read(); err != nil {
		return nil, err
	}
	for _, name := range []string{Style, Script, Icon, Editor} {
		if _, ok := s.loaded.Load().urls[name]; !ok {
			return nil, fmt.Errorf("look for %s: %w", name, ErrNotBuilt)
		}
	}
	return s, nil
}

// URL is the address of a file by its plain name. Asking for a file that does not exist is a mistake of the
// programmer: it panics, so that wiring that asks at the start stops the start.
func (s *Set) URL(name string) string {
	if s.live {
		if err := s.read(); err != nil {
			panic(fmt.Errorf("read assets again: %w", err))
		}
	}
	url, ok := s.loaded.Load().urls[name]
	if !ok {
		panic(fmt.Errorf("no asset is called %s", name))
	}
	return url
}

// ServeHTTP answers for everything under Prefix.
func (s *Set) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := s.loaded.Load().files[strings.TrimPrefix(r.URL.Path, Prefix)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	body := f.plain
	if f.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method != http.MethodHead {
		h.Set("Content-Length", strconv.Itoa(len(body)))
		// An error here is a browser that went away.
		_, _ = w.Write(body)
	}
}

// read makes the index of what is in the source now.
func (s *Set) read() error {
	next := &index{urls: map[string]string{}, files: map[string]*file{}}
	entries, err := fs.ReadDir(s.source, ".")
	if err != nil {
		return fmt.Errorf("list assets: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		kind := mime.TypeByExtension(path.Ext(name))
		if entry.IsDir() || kind == "" || path.Ext(name) == ".txt" {
			continue
		}
		content, err := fs.ReadFile(s.source, name)
		if err != nil {
			return fmt.Errorf("read asset: %w", err)
		}
		hash := sha256.Sum256(content)
		sum := hex.EncodeToString(hash[:8])
		hashed := strings.TrimSuffix(name, path.Ext(name)) + "-" + sum + path.Ext(name)
		zipped, err := zip(content)
		if err != nil {
			return fmt.Errorf("compress %s: %w", name, err)
		}
		next.urls[name] = Prefix + hashed
		next.files[hashed] = &file{contentType: kind, plain: content, zipped: zipped, tag: `"` + sum + `"`}
	}
	s.loaded.Store(next)
	return nil
}

// zip compresses a file, and gives nil when that does not make it smaller.
func zip(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() >= len(content) {
		return nil, nil
	}
	return b.Bytes(), nil
}
