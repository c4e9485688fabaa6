package csi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

type (
	vm         = v1alpha2.VirtualMachine
	attachment = v1alpha2.VirtualMachineBlockDeviceAttachment
)

// model is DVP as far as plugging one disk goes, in the time of a bubble of synctest: machines "a" and
// "b", the disk "v", and attachments, which come and go after a time.
type model struct {
	client.WithWatch // nothing: what is not played must not be asked for

	mu       sync.Mutex // protects the rest
	random   *rand.Rand
	version  int
	objects  map[string]client.Object // by resource and name
	watchers map[*watcher]bool
}

// watcher is told of one object.
type watcher struct {
	key    string
	events chan watch.Event
	owner  *model
}

func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

func (w *watcher) Stop() {
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	w.close()
}

// close ends the watch; the model must be locked.
func (w *watcher) close() {
	if w.owner.watchers[w] {
		delete(w.owner.watchers, w)
		close(w.events)
	}
}

func newModel(random *rand.Rand) *model {
	m := &model{random: random, objects: map[string]client.Object{}, watchers: map[*watcher]bool{}}
	for _, name := range []string{"a", "b"} {
		machine := &vm{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{cloud.LabelHostname: name, cloud.LabelClusterUUID: cluster}}}
		machine.Status.Phase = v1alpha2.MachineRunning
		m.put(machine)
	}
	m.put(&v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Name: "v"}})
	return m
}

func keyOf(o client.Object, name string) string {
	switch o.(type) {
	case *vm:
		return "virtualmachines/" + name
	case *v1alpha2.VirtualDisk:
		return "virtualdisks/" + name
	case *attachment:
		return "virtualmachineblockdeviceattachments/" + name
	}
	panic(fmt.Sprintf("no %T is played", o))
}

func kindOf(o client.Object) schema.GroupResource {
	key := keyOf(o, "")
	return schema.GroupResource{Group: v1alpha2.GroupVersion.Group, Resource: key[:len(key)-1]}
}

// put writes an object and tells who watches it.
func (m *model) put(o client.Object) {
	m.version++
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("uid-%d", m.version)))
		o.SetCreationTimestamp(metav1.Now())
	}
	o.SetResourceVersion(fmt.Sprint(m.version))
	key := keyOf(o, o.GetName())
	m.objects[key] = o
	m.tell(key, watch.Event{Type: watch.Modified, Object: o.DeepCopyObject()})
}

func (m *model) drop(o client.Object) {
	key := keyOf(o, o.GetName())
	delete(m.objects, key)
	m.tell(key, watch.Event{Type: watch.Deleted, Object: o.DeepCopyObject()})
}

// tell hands an event to watches; one that does not keep up ends, as the API server's do.
func (m *model) tell(key string, event watch.Event) {
	for w := range m.watchers {
		if w.key != key {
			continue
		}
		select {
		case w.events <- event:
		default:
			w.close()
		}
	}
}

func (m *model) between(least, most time.Duration) time.Duration {
	return least + time.Duration(m.random.Int64N(int64(most-least)))
}

func (m *model) attachments() (all []*attachment) {
	for _, o := range m.objects {
		if a, ok := o.(*attachment); ok {
			all = append(all, a)
		}
	}
	return all
}

// plugged are the machines that have the disk.
func (m *model) plugged() (names []string) {
	for _, name := range []string{"a", "b"} {
		for _, device := range m.objects["virtualmachines/"+name].(*vm).Status.BlockDeviceRefs {
			if device.Attached {
				names = append(names, name)
			}
		}
	}
	return names
}

// plug is DVP's controller coming to an attachment: whoever came first has the disk, others fail.
func (m *model) plug(uid types.UID, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, _ := m.objects["virtualmachineblockdeviceattachments/"+name].(*attachment)
	if a == nil || a.UID != uid || !a.DeletionTimestamp.IsZero() {
		return
	}
	now := a.DeepCopy()
	now.Status.Phase = v1alpha2.AttachmentPhaseAttached
	for _, other := range m.attachments() {
		if other.UID != a.UID && other.Status.Phase != v1alpha2.AttachmentPhaseFailed {
			if other.Status.Phase == v1alpha2.AttachmentPhaseAttached || other.Status.Phase == v1alpha2.AttachmentPhaseTerminating || other.CreationTimestamp.Before(&a.CreationTimestamp) {
				now.Status.Phase = v1alpha2.AttachmentPhaseFailed
			}
		}
	}
	if len(m.plugged()) > 0 {
		now.Status.Phase = v1alpha2.AttachmentPhaseFailed
	}
	if now.Status.Phase == v1alpha2.AttachmentPhaseAttached {
		m.setDevices(a.Spec.VirtualMachineName, []v1alpha2.BlockDeviceStatusRef{{Kind: v1alpha2.KindVirtualDisk, Name: "v", Attached: true, Hotplugged: true, AttachmentName: a.Name}})
		m.setUsers([]v1alpha2.AttachedTo{{Name: a.Spec.VirtualMachineName, Mounted: true}})
	}
	m.put(now)
}

// unplug is DVP's controller ending a deleted attachment. The disk's own word comes last.
func (m *model) unplug(a *attachment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	machine, had := a.Spec.VirtualMachineName, false
	for _, device := range m.objects["virtualmachines/"+machine].(*vm).Status.BlockDeviceRefs {
		had = had || device.AttachmentName == a.Name
	}
	end := func() {
		if had {
			m.setDevices(machine, nil)
			time.AfterFunc(m.between(0, time.Second), func() {
				m.mu.Lock()
				defer m.mu.Unlock()
				if len(m.plugged()) == 0 {
					m.setUsers(nil)
				}
			})
		}
	}
	if m.random.IntN(4) > 0 {
		end()
		m.drop(a)
		return
	}
	m.drop(a) // too early, as old DVPs did
	time.AfterFunc(m.between(0, 2*time.Second), func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		end()
	})
}

func (m *model) setDevices(machine string, devices []v1alpha2.BlockDeviceStatusRef) {
	now := m.objects["virtualmachines/"+machine].(*vm).DeepCopy()
	now.Status.BlockDeviceRefs = devices
	m.put(now)
}

func (m *model) setUsers(users []v1alpha2.AttachedTo) {
	now := m.objects["virtualdisks/v"].(*v1alpha2.VirtualDisk).DeepCopy()
	now.Status.AttachedToVirtualMachines = users
	m.put(now)
}

// The API of it, without a way to it in between.

func (m *model) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.objects[keyOf(o, key.Name)]
	if found == nil {
		return notFound(o, key.Name)
	}
	copyInto(o, found)
	return nil
}

func notFound(o client.Object, name string) error { return apierrors.NewNotFound(kindOf(o), name) }

func copyInto(o, from client.Object) {
	switch to := o.(type) {
	case *vm:
		from.(*vm).DeepCopyInto(to)
	case *v1alpha2.VirtualDisk:
		from.(*v1alpha2.VirtualDisk).DeepCopyInto(to)
	case *attachment:
		from.(*attachment).DeepCopyInto(to)
	}
}

func (m *model) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var chosen client.ListOptions
	chosen.ApplyOptions(options)
	list.SetResourceVersion(fmt.Sprint(m.version))
	switch list := list.(type) {
	case *v1alpha2.VirtualMachineBlockDeviceAttachmentList:
		for _, a := range m.attachments() {
			list.Items = append(list.Items, *a.DeepCopy())
		}
		return nil
	case *v1alpha2.VirtualMachineList:
		for _, name := range []string{"a", "b"} {
			if machine := m.objects["virtualmachines/"+name].(*vm); chosen.LabelSelector.Matches(labelsOf(machine.Labels)) {
				list.Items = append(list.Items, *machine.DeepCopy())
			}
		}
		return nil
	}
	return errors.New("no such list is played")
}

func (m *model) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects[keyOf(o, o.GetName())] != nil {
		return apierrors.NewAlreadyExists(kindOf(o), o.GetName())
	}
	m.put(o.DeepCopyObject().(client.Object))
	made := m.objects[keyOf(o, o.GetName())]
	copyInto(o, made)
	uid, name := made.GetUID(), made.GetName()
	time.AfterFunc(m.between(10*time.Millisecond, 3*time.Second), func() { m.plug(uid, name) })
	return nil
}

func (m *model) Delete(_ context.Context, o client.Object, options ...client.DeleteOption) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var chosen client.DeleteOptions
	chosen.ApplyOptions(options)
	there, _ := m.objects[keyOf(o, o.GetName())].(*attachment)
	switch {
	case there == nil:
		return notFound(o, o.GetName())
	case chosen.Preconditions != nil && chosen.Preconditions.UID != nil && *chosen.Preconditions.UID != there.UID:
		return apierrors.NewConflict(kindOf(o), o.GetName(), errors.New("it is another of this name"))
	case !there.DeletionTimestamp.IsZero():
		return nil
	}
	now := there.DeepCopy()
	now.DeletionTimestamp, now.Status.Phase = new(metav1.Now()), v1alpha2.AttachmentPhaseTerminating
	m.put(now)
	time.AfterFunc(m.between(10*time.Millisecond, 3*time.Second), func() { m.unplug(now) })
	return nil
}

func (m *model) Watch(_ context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var chosen client.ListOptions
	chosen.ApplyOptions(options)
	name, _ := chosen.FieldSelector.RequiresExactMatch("metadata.name")
	var o client.Object = new(attachment)
	switch list.(type) {
	case *v1alpha2.VirtualMachineList:
		o = new(vm)
	case *v1alpha2.VirtualDiskList:
		o = new(v1alpha2.VirtualDisk)
	}
	w := &watcher{key: keyOf(o, name), events: make(chan watch.Event, 20), owner: m}
	m.watchers[w] = true
	// What happened since the version that was read is told first.
	switch now := m.objects[w.key]; {
	case now == nil:
		o.SetName(name)
		w.events <- watch.Event{Type: watch.Deleted, Object: o}
	case now.GetResourceVersion() != chosen.Raw.ResourceVersion:
		w.events <- watch.Event{Type: watch.Modified, Object: now.DeepCopyObject()}
	}
	time.AfterFunc(time.Duration(*chosen.Raw.TimeoutSeconds)*time.Second, w.Stop)
	return w, nil
}
