package render

import (
	"fmt"
	"io/fs"
	"strings"
)

// Where the functions of steps are given to nodes: a key of a Secret in the namespace of nodes.
const (
	LibrarySecret = "bashible-bashbooster"
	LibraryKey    = "bashbooster.sh"
)

// Library is the functions that steps use: the files of a folder, one after the other in the
// order of their names.
func Library(from fs.FS) (string, error) {
	names, err := fs.Glob(from, "bashible/library/*.sh")
	if err != nil {
		return "", fmt.Errorf("list library: %w", err)
	}
	if len(names) == 0 {
		return "", fmt.Errorf("list library: no bashible/library/*.sh")
	}
	var all strings.Builder
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return "", fmt.Errorf("read library: %w", err)
		}
		all.Write(text)
		all.WriteByte('\n')
	}
	return all.String(), nil
}
