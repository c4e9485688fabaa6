package store

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const keySuffix = ".key"

// LoadKeys reads a keyring from a folder: each file <id>.key holds one base64 key of 32 bytes. The
// id that sorts last is current, so that a rotation adds a file with a later name.
func LoadKeys(dir string) (*Keyring, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the encryption keys: %w", err)
	}
	keys := map[string][]byte{}
	for _, entry := range entries {
		id, isKey := strings.CutSuffix(entry.Name(), keySuffix)
		if !isKey {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		if at, err := os.Stat(path); err == nil && at.Mode().Perm()&0o077 != 0 {
			return nil, fmt.Errorf("the encryption key %s can be read by others: make it private (chmod 600)", path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the encryption keys: %w", err)
		}
		if keys[id], err = base64.StdEncoding.DecodeString(strings.TrimSpace(string(text))); err != nil {
			return nil, fmt.Errorf("the encryption key %s is not base64", path)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("there is no encryption key (*%s) in %s", keySuffix, dir)
	}
	ids := make([]string, 0, len(keys))
	for id := range keys {
		ids = append(ids, id)
	}
	return NewKeyring(slices.Max(ids), keys)
}

// EnsureKeys makes a first key in a folder that has none.
func EnsureKeys(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of encryption keys: %w", err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*"+keySuffix))
	if err != nil || len(found) > 0 {
		return err
	}
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	file, err := os.OpenFile(filepath.Join(dir, "0001"+keySuffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make an encryption key: %w", err)
	}
	_, err = file.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	return errors.Join(err, file.Close())
}
