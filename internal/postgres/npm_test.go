package postgres

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

func TestUnpackAndLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive := filepath.Join(dir, "p.tgz")
	file, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	tarred := tar.NewWriter(zipped)
	for name, text := range map[string]string{
		"package/native/bin/postgres":     "binary",
		"package/native/lib/libx.so.1.2":  "library",
		"package/native/pg-symlinks.json": `[{"source":"native/lib/libx.so.1.2","target":"native/lib/libx.so.1"}]`,
	} {
		if err := tarred.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tarred.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, closer := range []interface{ Close() error }{tarred, zipped, file} {
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := unpack(archive, dir); err != nil {
		t.Fatal(err)
	}
	native := filepath.Join(dir, "package", "native")
	if err := link(native); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(native, "lib", "libx.so.1")); err != nil || string(got) != "library" {
		t.Errorf("through the link: %q, %v, want library", got, err)
	}
	if info, err := os.Stat(filepath.Join(native, "bin", "postgres")); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("bin/postgres: %v, %v, want it executable", info, err)
	}
}

func TestUnpackStaysInside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive := filepath.Join(dir, "p.tgz")
	file, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	tarred := tar.NewWriter(zipped)
	if err := tarred.WriteHeader(&tar.Header{Name: "../out", Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	for _, closer := range []interface{ Close() error }{tarred, zipped, file} {
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unpack(archive, inner); err == nil {
		t.Error("a name with .. was unpacked")
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); !os.IsNotExist(err) {
		t.Errorf("file outside of the folder: %v", err)
	}
}
