package emulator

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// devices lists what the machine has: the devices of its spec, and those that are plugged in. A
// plugged device comes when its attachment asks and goes when that is deleted, both after a time,
// and at once when the machine stops.
func (m *machine) devices(ctx context.Context) error {
	pod := m.active()
	running := pod != nil && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp.IsZero()
	var refs []v1alpha2.BlockDeviceStatusRef
	for _, ref := range m.vm.Spec.BlockDeviceRefs {
		size, err := m.size(ctx, ref.Kind, ref.Name)
		if err != nil {
			return err
		}
		refs = append(refs, v1alpha2.BlockDeviceStatusRef{Kind: ref.Kind, Name: ref.Name, Size: size, Attached: running, BootOrder: ref.BootOrder})
	}
	var attachments v1alpha2.VirtualMachineBlockDeviceAttachmentList
	if err := m.List(ctx, &attachments, client.InNamespace(m.vm.Namespace)); err != nil {
		return err
	}
	slices.SortFunc(attachments.Items, func(a, b v1alpha2.VirtualMachineBlockDeviceAttachment) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	for i := range attachments.Items {
		a := &attachments.Items[i]
		if a.Spec.VirtualMachineName != m.vm.Name || !running || !m.plugged(ctx, a) {
			continue
		}
		size, err := m.size(ctx, a.Spec.BlockDeviceRef.Kind, a.Spec.BlockDeviceRef.Name)
		if err != nil {
			return err
		}
		refs = append(refs, v1alpha2.BlockDeviceStatusRef{
			Kind: a.Spec.BlockDeviceRef.Kind, Name: a.Spec.BlockDeviceRef.Name, Size: size, Attached: true, Hotplugged: true, AttachmentName: a.Name,
		})
	}
	for i := range refs {
		refs[i].Target = "sd" + string(rune('a'+i))
	}
	m.vm.Status.BlockDeviceRefs = refs
	return nil
}

// plugged says whether the machine has the device of an attachment now.
func (m *machine) plugged(ctx context.Context, a *v1alpha2.VirtualMachineBlockDeviceAttachment) bool {
	was := hasPlugged(m.vm, a.Name)
	delay := m.world.delays(ctx, a)
	switch {
	case !a.DeletionTimestamp.IsZero():
		if !was {
			return false
		}
		if m.faulty(ctx, a, FaultStuckDetaching) {
			m.wait(again(time.Second))
			return true
		}
		left := m.timers.left(a.UID, "detach", delay.Detach)
		m.wait(again(left))
		return left > 0
	case was:
		return true
	}
	asked := meta.FindStatusCondition(a.Status.Conditions, v1alpha2.AttachmentAttached)
	if asked == nil || asked.Reason != v1alpha2.AttachmentRequestSent {
		return false
	}
	if m.faulty(ctx, a, FaultStuckAttaching) {
		m.wait(again(time.Second))
		return false
	}
	left := m.timers.left(a.UID, "attach", delay.Attach)
	m.wait(again(left))
	return left <= 0
}

// hasPlugged says whether a machine's list has the device of an attachment.
func hasPlugged(vm *v1alpha2.VirtualMachine, attachment string) bool {
	return slices.ContainsFunc(vm.Status.BlockDeviceRefs, func(ref v1alpha2.BlockDeviceStatusRef) bool {
		return ref.Hotplugged && ref.AttachmentName == attachment
	})
}

func (m *machine) size(ctx context.Context, kind, name string) (string, error) {
	if kind == v1alpha2.KindVirtualDisk {
		disk := new(v1alpha2.VirtualDisk)
		err := m.Get(ctx, client.ObjectKey{Namespace: m.vm.Namespace, Name: name}, disk)
		return disk.Status.Capacity, client.IgnoreNotFound(err)
	}
	image, err := imageOf(ctx, m, m.vm.Namespace, kind, name)
	if image == nil {
		return "", err
	}
	return image.Size.Unpacked, nil
}
