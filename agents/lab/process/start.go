package process

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Spec says what to run.
type Spec struct {
	Path  string   // the program
	Argv0 string   // what it is called by, for binaries that behave by their name; empty means Path
	Args  []string // its arguments
	Env   []string // its whole environment, as NAME=value
	// Inputs are files that the program reads only when it starts: another content means that
	// it has to start again.
	Inputs []string
}

// Plan says what to run, each time it is asked. starting tells that the answer is started now, so
// that what must be free at that moment, such as a port, is looked at only then.
type Plan func(starting bool) (Spec, error)

func (p Plan) ask(starting bool) (Spec, string, error) {
	spec, err := p(starting)
	if err != nil {
		return Spec{}, "", err
	}
	print, err := spec.fingerprint()
	return spec, print, err
}

// marker is the environment variable that every process carries: the file of its record. It
// finds a process whose keeper died between starting it and writing the record.
const marker = "LAB_PROCESS"

// fingerprint changes when the process would have to be started again to follow the spec.
func (s Spec) fingerprint() (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q", s.Path, s.Argv0, s.Args, s.Env)
	for _, name := range s.Inputs {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read input of %s: %w", filepath.Base(s.Path), err)
		}
		fmt.Fprintf(sum, "%q %x", name, sha256.Sum256(content))
	}
	// The same path with another program behind it is another program.
	info, err := os.Stat(s.Path)
	if err != nil {
		return "", fmt.Errorf("find program: %w", err)
	}
	fmt.Fprintf(sum, "%d %d", info.Size(), info.ModTime().UnixNano())
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// maxLog is the size in bytes from which a log is put aside at the next start of its program.
const maxLog = 16 << 20

// start runs the program as the leader of a new process group in dir, with its output appended
// to the log file. It does not die with its parent.
func (s Spec) start(dir, log, record string) (*exec.Cmd, error) {
	if info, err := os.Stat(log); err == nil && info.Size() > maxLog {
		if err := os.Rename(log, log+".old"); err != nil {
			return nil, fmt.Errorf("put log aside: %w", err)
		}
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer out.Close()
	cmd := exec.Command(s.Path, s.Args...)
	if s.Argv0 != "" {
		cmd.Args[0] = s.Argv0
	}
	cmd.Env = append(slices.Clone(s.Env), marker+"="+record)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(s.Path), err)
	}
	return cmd, nil
}

// marked finds the living processes that carry a record under dir in their environment. Only
// group leaders count: helpers of a program inherit its environment and end with its group.
func marked(dir string) (map[string][]Identity, error) {
	procs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	found := map[string][]Identity{}
	for _, name := range procs {
		environ, err := os.ReadFile(name)
		if err != nil {
			continue // it ended, or it is somebody else's
		}
		for variable := range strings.SplitSeq(string(environ), "\x00") {
			record, ok := strings.CutPrefix(variable, marker+"="+dir+string(filepath.Separator))
			if !ok {
				continue
			}
			var pid int
			if _, err := fmt.Sscanf(name, "/proc/%d/environ", &pid); err != nil {
				return nil, fmt.Errorf("read process id in %s: %w", name, err)
			}
			id, err := Identify(pid)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if group, err := syscall.Getpgid(pid); err == nil && group == pid {
				found[record] = append(found[record], id)
			}
		}
	}
	return found, nil
}
