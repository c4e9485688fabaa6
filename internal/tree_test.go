package internal_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNoLinkIsPartOfTheSources finds links that point into somebody's own folders: where they are
// checked out, they take the place of what is built there, such as .cache or node_modules.
func TestNoLinkIsPartOfTheSources(t *testing.T) {
	t.Parallel()
	git := exec.CommandContext(t.Context(), "git", "ls-files", "--stage")
	git.Dir = ".."
	out, err := git.Output()
	if err != nil {
		t.Skip("these sources are no checkout of git")
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "120000 ") {
			t.Errorf("a link is committed: %s", strings.TrimSpace(line))
		}
	}
}
