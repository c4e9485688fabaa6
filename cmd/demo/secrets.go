package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// secrets are made for the first start and kept, so that people need not learn new passwords.
type secrets struct {
	AdminPassword  string
	ViewerPassword string
	ClientSecret   string // between Commander and the identity provider
}

// secrets reads those of an earlier start or makes new ones.
func (h *home) secrets() (secrets, error) {
	var s secrets
	kept, err := os.ReadFile(h.path("secrets.json"))
	if err == nil {
		if err := json.Unmarshal(kept, &s); err != nil {
			return s, fmt.Errorf("read %s: %w", h.path("secrets.json"), err)
		}
		return s, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("read secrets: %w", err)
	}
	s = secrets{AdminPassword: password(), ViewerPassword: password(), ClientSecret: rand.Text()}
	text, err := json.Marshal(s)
	if err != nil {
		return s, fmt.Errorf("write secrets: %w", err)
	}
	return s, write(h.path("secrets.json"), string(text))
}

// password is easy to type and has 60 bits: three groups of four letters and digits.
func password() string {
	text := strings.ToLower(rand.Text())
	return text[:4] + "-" + text[4:8] + "-" + text[8:12]
}

// write replaces a file as a whole, for us alone: whoever reads it sees the old text or the new.
func write(path, text string) error {
	half := path + ".new"
	if err := os.WriteFile(half, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(half, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
