// Package packages gives nodes what they install. A package is known by its content alone: it is
// kept in a file of the name of its digest, and fetched from the registry when it is first asked for.
package packages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// Server answers GET /package?digest=sha256:<hexadecimal>. Who may ask is judged before it.
type Server struct {
	Dir string
	// Upstream writes what has a digest; nil means that only what is in Dir can be had.
	Upstream func(ctx context.Context, digest string, into io.Writer) error
	Log      *slog.Logger

	mu   sync.Mutex             // protects what follows
	busy map[string]*sync.Mutex // who holds one brings that package
	good map[string]bool        // files whose content was compared since the server started
}

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// bringBound is how long it may take to bring a package from the registry.
const bringBound = 10 * time.Minute

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	digest := r.URL.Query().Get("digest")
	switch {
	case r.URL.Path != "/package":
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	case !digestPattern.MatchString(digest):
		http.Error(w, "digest must be sha256: and 64 hexadecimal digits", http.StatusBadRequest)
		return
	}
	// Not bound to this request: another may wait for the same package.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), bringBound)
	defer cancel()
	file, err := s.bring(ctx, digest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, "there is no such package", http.StatusNotFound)
		return
	case err != nil:
		s.Log.Error("package cannot be had", "digest", digest, "error", err)
		http.Error(w, "the package cannot be had now; the log of the server says why", http.StatusBadGateway)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, file)
}

// bring opens the package, fetching it first if it is not there or its file is damaged.
func (s *Server) bring(ctx context.Context, digest string) (*os.File, error) {
	one := s.turn(digest)
	one.Lock()
	defer one.Unlock()
	name := filepath.Join(s.Dir, digest[len("sha256:"):])
	file, err := os.Open(name)
	if err == nil && s.verified(digest, file) {
		return file, nil
	}
	if err == nil {
		s.Log.Warn("a package was damaged on the disk", "digest", digest)
		err = errors.Join(file.Close(), os.Remove(name), fs.ErrNotExist)
	}
	if !errors.Is(err, fs.ErrNotExist) || s.Upstream == nil {
		return nil, err
	}
	if err := s.fetch(ctx, digest, name); err != nil {
		return nil, err
	}
	s.mark(digest)
	return os.Open(name)
}

func (s *Server) fetch(ctx context.Context, digest, name string) error {
	temporary, err := os.CreateTemp(s.Dir, ".bringing-")
	if err != nil {
		return fmt.Errorf("make file for package: %w", err)
	}
	defer os.Remove(temporary.Name())
	sum := sha256.New()
	err = s.Upstream(ctx, digest, io.MultiWriter(temporary, sum))
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != digest {
		return fmt.Errorf("the registry gave content with the digest %s", got)
	}
	return os.Rename(temporary.Name(), name)
}

// verified compares a file with its name once, and leaves it at its beginning.
func (s *Server) verified(digest string, file *os.File) bool {
	s.mu.Lock()
	good := s.good[digest]
	s.mu.Unlock()
	if good {
		return true
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil || "sha256:"+hex.EncodeToString(sum.Sum(nil)) != digest {
		return false
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false
	}
	s.mark(digest)
	return true
}

func (s *Server) mark(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.good == nil {
		s.good = map[string]bool{}
	}
	s.good[digest] = true
}

func (s *Server) turn(digest string) *sync.Mutex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy == nil {
		s.busy = map[string]*sync.Mutex{}
	}
	if s.busy[digest] == nil {
		s.busy[digest] = new(sync.Mutex)
	}
	return s.busy[digest]
}
