package packages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(s[:])
}

func get(s *Server, method, path string) (int, string) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code, w.Body.String()
}

func TestPackagesByDigest(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	upstream := map[string]string{sum("one"): "one", sum("two"): "another"}
	s := &Server{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Upstream: func(_ context.Context, digest string, into io.Writer) error {
		asked.Add(1)
		text, found := upstream[digest]
		if !found {
			return errors.New("the registry has no such blob")
		}
		_, err := io.WriteString(into, text)
		return err
	}}
	one := "/package?digest=" + sum("one")
	var group sync.WaitGroup
	for range 8 { // who asks at once for the same waits for one download
		group.Go(func() {
			if code, text := get(s, http.MethodGet, one); code != http.StatusOK || text != "one" {
				t.Errorf("got %d %q, want the package", code, text)
			}
		})
	}
	group.Wait()
	if asked.Load() != 1 {
		t.Errorf("the registry was asked %d times, want once", asked.Load())
	}
	// A file that was damaged while the server was away is brought again.
	file := filepath.Join(s.Dir, sum("one")[len("sha256:"):])
	if err := os.WriteFile(file, []byte("on"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := &Server{Dir: s.Dir, Log: s.Log, Upstream: s.Upstream}
	if code, text := get(again, http.MethodGet, one); code != http.StatusOK || text != "one" {
		t.Errorf("a damaged file gave %d %q", code, text)
	}
	for path, want := range map[string]int{
		"/package?digest=" + sum("two"):    http.StatusBadGateway, // the registry lies
		"/package?digest=" + sum("three"):  http.StatusBadGateway,
		"/package?digest=../../etc/passwd": http.StatusBadRequest,
		"/package":                         http.StatusBadRequest,
		"/":                                http.StatusNotFound,
	} {
		if code, _ := get(s, http.MethodGet, path); code != want {
			t.Errorf("%s: got %d, want %d", path, code, want)
		}
	}
	if code, _ := get(s, http.MethodPost, one); code != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d", code)
	}
	left, err := os.ReadDir(s.Dir)
	if err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v, want the good package only", left, err)
	}
	alone := &Server{Dir: s.Dir, Log: s.Log}
	if code, _ := get(alone, http.MethodGet, "/package?digest="+sum("four")); code != http.StatusNotFound {
		t.Errorf("without a registry: got %d, want that there is none", code)
	}
}

func TestPartsOfAPackage(t *testing.T) {
	t.Parallel()
	s := &Server{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	text := string(bytes.Repeat([]byte("0123456789"), 100))
	if err := os.WriteFile(filepath.Join(s.Dir, sum(text)[len("sha256:"):]), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/package?digest="+sum(text), nil)
	r.Header.Set("Range", "bytes=990-")
	s.ServeHTTP(w, r)
	if w.Code != http.StatusPartialContent || w.Body.String() != "0123456789" {
		t.Errorf("got %d %q, want the rest", w.Code, w.Body)
	}
}
