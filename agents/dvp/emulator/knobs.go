package emulator

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Annotations by which a person or a test turns the emulator's knobs, on an object or on its
// namespace for all objects there.
const (
	AnnotationFaults = "emulator.dvp/faults" // names of faults, separated by commas
	AnnotationDelays = "emulator.dvp/delays" // see Delays
	AnnotationSize   = "emulator.dvp/size"   // of an image, as a quantity; 1Gi without it
	AnnotationCDROM  = "emulator.dvp/cdrom"  // present: the image is an ISO
)

// Faults that can be switched on. They last until the annotation goes.
const (
	FaultProvisioningFailed = "provisioning-failed" // of a disk or image: it becomes Failed
	FaultImagePullFailed    = "image-pull-failed"   // of a disk
	FaultMigrationFailed    = "migration-failed"    // of a disk or machine
	FaultNotOnNode          = "not-on-node"         // of a disk: its volume is not reachable from the machine's node
	FaultUnschedulable      = "unschedulable"       // of a machine
	FaultDegraded           = "degraded"            // of a running machine
	FaultStuckAttaching     = "stuck-attaching"     // of an attachment
	FaultStuckDetaching     = "stuck-detaching"     // of an attachment
	FaultStuckTerminating   = "stuck-terminating"   // of a machine or disk being deleted
)

// The emulator's own notes on pods and operations.
const (
	noteIntent  = "emulator.dvp/intent"  // on a pod being deleted: what comes after it
	noteApplied = "emulator.dvp/applied" // on a pod: the part of the spec that needs a restart
	notePod     = "emulator.dvp/pod"     // on an operation: the uid of the pod that it ended, or the target of a move

	intentStop    = "stop"
	intentRestart = "restart"
)

// world is what all controllers share.
type world struct {
	client.Client
	Options
	live   client.Reader // asks the API itself, for judgements that must not be old
	timers timers

	guestChanges chan event.GenericEvent // of machines whose guest has changed
}

// faulty says whether a fault is switched on for an object.
func (w *world) faulty(ctx context.Context, o client.Object, fault string) bool {
	for _, notes := range w.knobs(ctx, o, AnnotationFaults) {
		if slices.Contains(strings.Split(strings.ReplaceAll(notes, " ", ""), ","), fault) {
			return true
		}
	}
	return false
}

// delays are those of an object. Changes that cannot be read are told in the log and not made.
func (w *world) delays(ctx context.Context, o client.Object) Delays {
	d := w.Options.Delays
	for _, changes := range w.knobs(ctx, o, AnnotationDelays) {
		if err := d.Set(changes); err != nil {
			w.Log.Warn("annotation not understood", "object", client.ObjectKeyFromObject(o), "error", err)
		}
	}
	return d
}

// knobs are the values of an annotation: the namespace's first, the object's own last.
func (w *world) knobs(ctx context.Context, o client.Object, key string) []string {
	var values []string
	var namespace corev1.Namespace
	if o.GetNamespace() != "" && w.Get(ctx, client.ObjectKey{Name: o.GetNamespace()}, &namespace) == nil {
		values = append(values, namespace.Annotations[key])
	}
	return append(values, o.GetAnnotations()[key])
}

// timers measure how long a step has lasted. They are in memory: after a restart of the emulator a
// step begins anew, as a step of a restarted hypervisor does.
type timers struct {
	mu    sync.Mutex // protects since
	since map[string]time.Time
}

// left says how much of a step's duration is left; zero or less when it is over. The first call
// begins the step.
func (t *timers) left(id types.UID, step string, d time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since == nil {
		t.since = map[string]time.Time{}
	}
	key := string(id) + "/" + step
	begun, ok := t.since[key]
	if !ok {
		begun = time.Now()
		t.since[key] = begun
	}
	return d - time.Since(begun)
}

// forget ends a step, so that it can begin again.
func (t *timers) forget(id types.UID, steps ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, step := range steps {
		delete(t.since, string(id)+"/"+step)
	}
}
