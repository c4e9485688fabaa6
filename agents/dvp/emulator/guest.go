package emulator

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// Guests are what machines have inside. Each of these may be asked again after it was done.
type Guests interface {
	// Boot makes the guest of a machine if it has none, and starts it.
	Boot(ctx context.Context, g Guest) error
	// State says how a guest is.
	State(ctx context.Context, id types.UID) (GuestState, error)
	// ShutDown asks a guest to shut down, and does not wait for it.
	ShutDown(ctx context.Context, id types.UID) error
	// Kill ends a guest at once; its disk stays.
	Kill(ctx context.Context, id types.UID) error
	// Remove ends a guest and removes its disk.
	Remove(ctx context.Context, id types.UID) error
	// All tells of all guests how they are, in words that only their change gives a meaning.
	All(ctx context.Context) (map[types.NamespacedName]string, error)
}

// Guest is what the guest of a machine is made of.
type Guest struct {
	ID       types.UID // the machine's
	Machine  types.NamespacedName
	Address  string
	UserData []byte // what cloud-init is to do, or nothing
}

// GuestState is how a guest is.
type GuestState string

// The states of guests.
const (
	GuestMissing   GuestState = "missing" // there is none
	GuestRunning   GuestState = "running"
	GuestOff       GuestState = "off"       // it shut down, or never ran
	GuestRebooting GuestState = "rebooting" // it asked for a start from the beginning
)

const (
	guestPoll = time.Second // from one look at the guests to the next
	// guestGrace is how long a guest may take to shut down where its machine does not say so: DVP's default.
	guestGrace = time.Minute
)

// followGuests has those machines looked at whose guests have changed, until the context ends.
func (w *world) followGuests(changed chan<- event.GenericEvent) func(context.Context) error {
	return func(ctx context.Context) error {
		tick := time.NewTicker(guestPoll)
		defer tick.Stop()
		known, silent := map[types.NamespacedName]string{}, false
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			now, err := w.Guests.All(ctx)
			if err != nil {
				if !silent && ctx.Err() == nil {
					w.Log.Warn("guests cannot be looked at", "error", err)
				}
				silent = true
				continue
			}
			silent = false
			for machine := range known {
				if _, there := now[machine]; !there {
					now[machine] = ""
				}
			}
			for machine, state := range now {
				if known[machine] == state {
					continue
				}
				o := &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: machine.Namespace, Name: machine.Name}}
				select {
				case changed <- event.GenericEvent{Object: o}:
				case <-ctx.Done():
					return nil
				}
			}
			known = now
		}
	}
}

// boot starts the machine's guest, if machines have any.
func (m *machine) boot(ctx context.Context) error {
	if m.Guests == nil {
		return nil
	}
	data, err := m.userData(ctx)
	if err != nil {
		return err
	}
	return m.Guests.Boot(ctx, Guest{ID: m.vm.UID, Machine: client.ObjectKeyFromObject(m.vm), Address: m.vm.Status.IPAddress, UserData: data})
}

// userData is what the machine gives to cloud-init.
func (m *machine) userData(ctx context.Context) ([]byte, error) {
	p := m.vm.Spec.Provisioning
	switch {
	case p == nil || p.Type == v1alpha2.SysprepRef: // which is for Windows
		return nil, nil
	case p.Type == v1alpha2.UserData:
		return []byte(p.UserData), nil
	}
	secret := new(corev1.Secret)
	if err := m.Get(ctx, client.ObjectKey{Namespace: m.vm.Namespace, Name: p.UserDataRef.Name}, secret); err != nil {
		return nil, fmt.Errorf("read user data: %w", err)
	}
	return secret.Data[v1alpha2.SecretKeyUserData], nil
}

// guest does what follows from how the guest of a running machine is: it starts again after a
// reboot, and the pod ends with a guest that shut down or was lost.
func (m *machine) guest(ctx context.Context, pod *corev1.Pod) error {
	if m.Guests == nil || pod.Status.Phase != corev1.PodRunning {
		return nil
	}
	state, err := m.Guests.State(ctx, m.vm.UID)
	switch {
	case err != nil:
		return err
	case state == GuestRebooting:
		return m.boot(ctx)
	case state == GuestRunning:
		return nil
	}
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodSucceeded
	if state == GuestMissing {
		pod.Status.Phase = corev1.PodFailed
	}
	return m.Status().Patch(ctx, pod, client.MergeFrom(before))
}

// dark makes sure that a machine without a pod has no guest that runs.
func (m *machine) dark(ctx context.Context) error {
	if m.Guests == nil {
		return nil
	}
	if state, err := m.Guests.State(ctx, m.vm.UID); err != nil || state != GuestRunning {
		return err
	}
	return m.Guests.Kill(ctx, m.vm.UID)
}

// shut lets the guest shut down, and says how much longer that may take: nothing when it is over. A
// guest that takes longer than it may is ended.
func (m *machine) shut(ctx context.Context) (time.Duration, error) {
	left := m.timers.left(m.vm.UID, "stop", m.stopTime())
	if m.Guests == nil {
		return left, nil
	}
	state, err := m.Guests.State(ctx, m.vm.UID)
	switch {
	case err != nil:
		return 0, err
	case state != GuestRunning:
		return 0, nil
	case left <= 0:
		return 0, m.Guests.Kill(ctx, m.vm.UID)
	}
	return min(left, guestPoll), m.Guests.ShutDown(ctx, m.vm.UID)
}

// stopTime is how long the machine may take to stop. A guest that is real takes what it needs.
func (m *machine) stopTime() time.Duration {
	grace := guestGrace
	if seconds := m.vm.Spec.TerminationGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	if m.Guests != nil {
		return grace
	}
	return min(m.delay.Stop, grace)
}
