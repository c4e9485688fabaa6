package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"commander/agents/node/api"
	"commander/internal/clock"
)

// Run is one pass over the configuration of a node.
type Run struct {
	*Settings
	kube  *Kube
	node  string
	clock clock.Clock
	log   *slog.Logger
	out   io.Writer // what steps say
}

// New prepares a pass; it fails if the node has nothing to speak to the API server with.
func New(s *Settings, c clock.Clock, log *slog.Logger, out io.Writer) (*Run, error) {
	node, err := s.nodeName()
	if err != nil {
		return nil, err
	}
	kube, err := NewKube(s)
	if err != nil {
		return nil, err
	}
	return &Run{Settings: s, kube: kube, node: node, clock: c, log: log, out: out}, nil
}

// ErrLocked means that another run is under way.
var ErrLocked = errors.New("another run of bashible is under way")

// Lock keeps other runs out until release is called. The kernel releases it too if the process dies.
func (s *Settings) Lock() (release func(), err error) {
	f, err := os.OpenFile(s.LockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return func() { _ = f.Close() }, nil // closing releases
}

// Pass brings the node to the configuration of its group, or finds that it is there.
func (r *Run) Pass(ctx context.Context) error {
	if !r.NoLock {
		release, err := r.Lock()
		if err != nil {
			return err
		}
		defer release()
	}
	node, err := r.self(ctx)
	if err != nil {
		return err
	}
	if !r.Updated && !r.Local {
		over, err := r.selfUpdate(ctx)
		if over || err != nil {
			return err
		}
	}
	if !r.has(firstRunFile) && node != nil {
		if err := r.initialized(ctx, node); err != nil {
			return err
		}
		if err := r.takeReboot(ctx, node); err != nil {
			return err
		}
		if r.nothingToDo() {
			return r.upToDate(ctx, node)
		}
	}
	return r.configure(ctx)
}

// self is the Node, whose label says which group the machine belongs to. Before the first run has
// made one there is none.
func (r *Run) self(ctx context.Context) (*object, error) {
	if _, err := os.Stat(r.KubeletConf); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	node := new(object)
	if err := r.fetch(ctx, r.nodePath(), node); err != nil {
		return nil, err
	}
	switch group := node.Metadata.Labels[api.LabelGroup]; group {
	case "":
		r.log.Warn("the node has no label of a group", "label", api.LabelGroup, "assumed", r.Group)
	default:
		r.Group = group
	}
	return node, nil
}

// How often and how fast it is tried to say that the first run is over.
const initializedTries = 25

// initialized says once that the node's first run is over, and again while the taint that waits
// for it is there.
func (r *Run) initialized(ctx context.Context, node *object) error {
	if r.has(initializedFile) && !node.uninitialized() {
		return nil
	}
	for try := 1; ; try++ {
		err := r.patchNode(ctx, "", "labels", change{api.LabelFirstRunFinished: "true"})
		if err == nil {
			return r.write(initializedFile, nil, 0o600)
		}
		if try == initializedTries {
			return fmt.Errorf("tell that the first run is over: %w", err)
		}
		if err := r.pause(ctx); err != nil {
			return err
		}
	}
}

// takeReboot makes the wish of a person that the machine start anew a flag, which outlives the
// annotation: otherwise the machine would start anew for ever.
func (r *Run) takeReboot(ctx context.Context, node *object) error {
	if !node.annotated(api.UpdateReboot) {
		return nil
	}
	if err := r.setFlag(flagReboot); err != nil {
		return err
	}
	if err := r.annotate(ctx, "", change{api.UpdateReboot: nil}); err != nil {
		return fmt.Errorf("take wish to start anew: %w", err)
	}
	return nil
}

// nothingToDo: the configuration is the one that was applied, nobody asks for a full run, and the
// machine did not start anew since.
func (r *Run) nothingToDo() bool {
	if r.Checksum == "" || r.read(checksumFile) != r.Checksum || r.flagged(flagReboot) {
		return false
	}
	then, err := strconv.ParseFloat(r.read(uptimeFile), 64)
	if err != nil {
		return false
	}
	now, err := r.uptime()
	return err == nil && then < now
}

// upToDate says so, and remembers how long the machine runs.
func (r *Run) upToDate(ctx context.Context, node *object) error {
	if node == nil || node.Metadata.Annotations[api.AnnotationChecksum] != r.Checksum {
		if err := r.annotate(ctx, "", change{api.AnnotationChecksum: r.Checksum}); err != nil {
			return fmt.Errorf("tell checksum: %w", err)
		}
	}
	return r.keepUptime()
}

func (r *Run) keepUptime() error {
	now, err := r.uptime()
	if err != nil {
		return err
	}
	return r.write(uptimeFile, []byte(strconv.FormatFloat(now, 'f', 2, 64)+"\n"), 0o600)
}

// uptime is how long the machine runs, in seconds.
func (s *Settings) uptime() (float64, error) {
	text, err := os.ReadFile(s.Uptime)
	if err != nil {
		return 0, fmt.Errorf("read uptime: %w", err)
	}
	seconds, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	now, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return 0, fmt.Errorf("read uptime: %w", err)
	}
	return now, nil
}

// configure runs all steps and records that they are done.
func (r *Run) configure(ctx context.Context) error {
	if err := os.Remove(r.file(checksumFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget checksum: %w", err)
	}
	if err := r.dropFlag(flagDisruption); err != nil { // an approval is for one run
		return err
	}
	if !r.Local {
		if err := r.fetchSteps(ctx); err != nil {
			return err
		}
	}
	first := r.has(firstRunFile)
	if first {
		r.tellStatus(ctx, api.ConditionBashibleReady, "Unknown", api.ReasonInitialRunInProgress, "")
	} else {
		r.event(ctx, "Normal", eventUpdate, "steps of configuration "+r.Checksum+" start")
	}
	if err := r.runSteps(ctx); err != nil {
		return err
	}
	return r.done(ctx, first)
}

// done is written last: a crash before it means that the steps run again.
func (r *Run) done(ctx context.Context, first bool) error {
	if first {
		if err := r.reload(); err != nil { // now as the node that the steps made
			return err
		}
	}
	r.tell(ctx, api.ConditionBashibleReady, true, api.ReasonStepsCompleted, "")
	if !first { // else nobody was asked
		r.event(ctx, "Normal", eventUpdate, "steps of configuration "+r.Checksum+" are done")
	}
	if err := r.annotate(ctx, "", change{api.AnnotationChecksum: r.Checksum}); err != nil {
		return fmt.Errorf("tell checksum: %w", err)
	}
	if err := errors.Join(r.write(checksumFile, []byte(r.Checksum+"\n"), 0o600), r.keepUptime(), r.dropFlag(flagDisruption)); err != nil {
		return err
	}
	if !first {
		return nil
	}
	if err := r.initialized(ctx, new(object)); err != nil {
		return err
	}
	if err := os.Remove(r.file(firstRunFile)); err != nil {
		return fmt.Errorf("end first run: %w", err)
	}
	return nil
}

// reload takes the node's own identity if a step made one.
func (r *Run) reload() error {
	kube, err := NewKube(r.Settings)
	if err != nil {
		return err
	}
	r.kube = kube
	return nil
}
