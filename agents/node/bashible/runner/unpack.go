package runner

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unpack writes an archive's folders, files and links below a folder, and nothing outside it.
func unpack(archive, into string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close()
	for entries := tar.NewReader(packed); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := unpackOne(root, h, entries); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

func unpackOne(root *os.Root, h *tar.Header, content io.Reader) error {
	name := filepath.Clean(strings.TrimPrefix(h.Name, "/"))
	mode := fs.FileMode(h.Mode) & fs.ModePerm
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, mode|0o700)
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeReg:
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	}
	return fmt.Errorf("an entry of type %q cannot be unpacked", h.Typeflag)
}
