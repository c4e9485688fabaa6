package machinetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// file is one of a package.
type file struct {
	name    string
	content io.Reader
	size    int64
	mode    int64
	link    string
}

// pack writes a package to a store under its digest, and returns that.
func pack(t *testing.T, store string, files ...file) string {
	t.Helper()
	out, err := os.CreateTemp(store, ".new-")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	packed, err := gzip.NewWriterLevel(io.MultiWriter(out, sum), gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(packed)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: f.size, Typeflag: tar.TypeReg}
		if f.link != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, f.link, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if f.content != nil {
			if _, err := io.Copy(w, f.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), packed.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if err := os.Rename(out.Name(), filepath.Join(store, digest)); err != nil {
		t.Fatal(err)
	}
	return "sha256:" + digest
}

// text is a small file.
func text(name, content string) file {
	return file{name: name, content: strings.NewReader(content), size: int64(len(content)), mode: 0o755}
}

// program is a file of this machine.
func program(t *testing.T, name, from string) file {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // only read
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return file{name: name, content: f, size: info.Size(), mode: 0o755}
}

// fromImage takes files out of the image of packages, by the beginning of their path.
func fromImage(t *testing.T, paths ...string) []file {
	t.Helper()
	id, err := Docker(t.Context(), "create", Image()+"-packages", "none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = Docker(context.Background(), "rm", id) }) // never started
	var all []file
	for _, path := range paths {
		out, err := exec.CommandContext(t.Context(), "docker", "cp", "--follow-link", id+":"+path, "-").Output()
		if err != nil {
			t.Fatalf("take %s out of the image: %v", path, err)
		}
		for entries := tar.NewReader(bytes.NewReader(out)); ; {
			h, err := entries.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Typeflag == tar.TypeReg {
				content, err := io.ReadAll(entries)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, file{name: "files/" + filepath.Base(h.Name), content: bytes.NewReader(content), size: h.Size, mode: 0o755})
			}
		}
	}
	return all
}
