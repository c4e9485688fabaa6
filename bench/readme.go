package main

import (
	"fmt"
	"os"
	"strings"
)

// writeBetween replaces what stands between <!-- name --> and <!-- /name --> in a file. It fails if
// a mark is missing, and changes nothing then.
func writeBetween(file string, texts map[string]string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read figures of earlier: %w", err)
	}
	page := string(body)
	for name, text := range texts {
		open, shut := "<!-- "+name+" -->", "<!-- /"+name+" -->"
		before, rest, opened := strings.Cut(page, open)
		_, after, closed := strings.Cut(rest, shut)
		if !opened || !closed {
			return fmt.Errorf("write figures: %s has no %s … %s", file, open, shut)
		}
		page = before + open + "\n" + strings.TrimSpace(text) + "\n" + shut + after
	}
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}
