package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Flags by which steps talk to each other and to the runner: files in a folder of the state.
const (
	flagDisruption    = "disruption"     // the node may be disturbed
	flagRollingUpdate = "rolling-update" // replace the node rather than disturb it
	flagReboot        = "reboot"         // the machine must start anew
)

func (s *Settings) flag(name string) string { return filepath.Join(s.file(flagsDir), name) }

func (s *Settings) flagged(name string) bool {
	_, err := os.Stat(s.flag(name))
	return err == nil
}

func (s *Settings) setFlag(name string) error {
	if err := errors.Join(os.MkdirAll(s.file(flagsDir), 0o700), os.WriteFile(s.flag(name), nil, 0o600)); err != nil {
		return fmt.Errorf("set flag %s: %w", name, err)
	}
	return nil
}

func (s *Settings) dropFlag(name string) error {
	if err := os.Remove(s.flag(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop flag %s: %w", name, err)
	}
	return nil
}
