package emulator

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// ready says whether all that a start needs is there.
func (m *machine) ready() bool {
	for _, kind := range []string{v1alpha2.VMClassReady, v1alpha2.VMIPAddressReady, v1alpha2.VMProvisioningReady} {
		if !meta.IsStatusConditionTrue(m.vm.Status.Conditions, kind) {
			return false
		}
	}
	devices := meta.FindStatusCondition(m.vm.Status.Conditions, v1alpha2.VMBlockDevicesReady)
	return (devices.Status == metav1.ConditionTrue || devices.Reason == v1alpha2.VMBlockDevicesWaitConsumer) &&
		!meta.IsStatusConditionFalse(m.vm.Status.Conditions, v1alpha2.VMSizingPolicyMatched)
}

func (m *machine) judgeClass(ctx context.Context) error {
	class := new(v1alpha2.VirtualMachineClass)
	err := m.Get(ctx, client.ObjectKey{Name: m.vm.Spec.VirtualMachineClassName}, class)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	ready := err == nil && class.Status.Phase == v1alpha2.ClassPhaseReady
	switch {
	case err != nil:
		m.set(v1alpha2.VMClassReady, false, v1alpha2.VMClassNotReady, fmt.Sprintf("there is no VirtualMachineClass %q", m.vm.Spec.VirtualMachineClassName))
		m.set(v1alpha2.VMSizingPolicyMatched, false, v1alpha2.VMSizingClassNotFound, "")
		return nil
	case ready:
		m.set(v1alpha2.VMClassReady, true, v1alpha2.VMClassReady, "")
	default:
		m.set(v1alpha2.VMClassReady, false, v1alpha2.VMClassNotReady, fmt.Sprintf("VirtualMachineClass %q is not ready", class.Name))
	}
	faults := sizingFaults(&m.vm.Spec, class)
	switch {
	case !class.DeletionTimestamp.IsZero():
		m.set(v1alpha2.VMSizingPolicyMatched, false, v1alpha2.VMSizingClassTerminating, "")
	case len(faults) > 0:
		m.set(v1alpha2.VMSizingPolicyMatched, false, v1alpha2.VMSizingPolicyNotMatched, sizingMessage(class.Name, faults))
	default:
		meta.RemoveStatusCondition(&m.vm.Status.Conditions, v1alpha2.VMSizingPolicyMatched)
	}
	return nil
}

// findAddress takes the address that the spec names, or one made for the machine.
func (m *machine) findAddress(ctx context.Context) error {
	name := m.vm.Spec.VirtualMachineIPAddressName
	if name == "" {
		name = m.vm.Name + "-" + short(m.vm.UID)
	}
	address := new(v1alpha2.VirtualMachineIPAddress)
	err := m.Get(ctx, client.ObjectKey{Namespace: m.vm.Namespace, Name: name}, address)
	if apierrors.IsNotFound(err) && m.vm.Spec.VirtualMachineIPAddressName == "" {
		if err := m.makeAddress(ctx, name); err != nil {
			return err
		}
		m.set(v1alpha2.VMIPAddressReady, false, v1alpha2.VMIPAddressNotReady, "its address is being made")
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	switch {
	case err != nil:
		m.set(v1alpha2.VMIPAddressReady, false, v1alpha2.VMIPAddressNotReady, fmt.Sprintf("there is no VirtualMachineIPAddress %q", name))
	case address.Status.VirtualMachineName != "" && address.Status.VirtualMachineName != m.vm.Name:
		m.set(v1alpha2.VMIPAddressReady, false, "VirtualMachineIPAddressNotAvailable", fmt.Sprintf("machine %q has it", address.Status.VirtualMachineName))
	case address.Status.Address == "":
		m.set(v1alpha2.VMIPAddressReady, false, v1alpha2.VMIPAddressNotReady, fmt.Sprintf("VirtualMachineIPAddress %q is not bound", name))
	default:
		m.vm.Status.VirtualMachineIPAddressName, m.vm.Status.IPAddress = name, address.Status.Address
		m.set(v1alpha2.VMIPAddressReady, true, v1alpha2.VMIPAddressReady, "")
	}
	return nil
}

func (m *machine) makeAddress(ctx context.Context, name string) error {
	made := &v1alpha2.VirtualMachineIPAddress{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.vm.Namespace, Name: name},
		Spec:       v1alpha2.IPAddressSpec{Type: v1alpha2.AddressAuto},
	}
	if err := controllerutil.SetControllerReference(m.vm, made, m.Scheme()); err != nil {
		return err
	}
	if err := m.Create(ctx, made); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func (m *machine) judgeDevices(ctx context.Context) error {
	var missing, waiting []string
	for _, ref := range m.vm.Spec.BlockDeviceRefs {
		if ref.Kind != v1alpha2.KindVirtualDisk {
			image, err := imageOf(ctx, m, m.vm.Namespace, ref.Kind, ref.Name)
			if err != nil {
				return err
			}
			if image == nil || image.Phase != v1alpha2.ImagePhaseReady {
				missing = append(missing, ref.Name)
			}
			continue
		}
		disk := new(v1alpha2.VirtualDisk)
		err := m.Get(ctx, client.ObjectKey{Namespace: m.vm.Namespace, Name: ref.Name}, disk)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		switch phase := disk.Status.Phase; {
		case err != nil, mountedElsewhere(disk, m.vm.Name):
			missing = append(missing, ref.Name)
		case phase == v1alpha2.DiskPhaseReady, phase == v1alpha2.DiskPhaseResizing, phase == v1alpha2.DiskPhaseMigrating:
		// A disk that is provisioned because this machine was placed is no reason to displace it.
		case phase == v1alpha2.DiskPhaseWaitForConsumer, phase == v1alpha2.DiskPhaseProvisioning && m.active() != nil:
			waiting = append(waiting, ref.Name)
		default:
			missing = append(missing, ref.Name)
		}
	}
	switch {
	case len(missing) > 0:
		m.set(v1alpha2.VMBlockDevicesReady, false, v1alpha2.VMBlockDevicesNotReady, "not ready: "+strings.Join(missing, ", "))
	case len(waiting) > 0:
		m.set(v1alpha2.VMBlockDevicesReady, false, v1alpha2.VMBlockDevicesWaitConsumer, "waiting for this machine: "+strings.Join(waiting, ", "))
	default:
		m.set(v1alpha2.VMBlockDevicesReady, true, v1alpha2.VMBlockDevicesReady, "")
	}
	return nil
}

func mountedElsewhere(disk *v1alpha2.VirtualDisk, vm string) bool {
	for _, user := range disk.Status.AttachedToVirtualMachines {
		if user.Mounted && user.Name != vm {
			return true
		}
	}
	return false
}

func (m *machine) judgeProvisioning(ctx context.Context) error {
	p := m.vm.Spec.Provisioning
	if p == nil || p.Type == v1alpha2.UserData {
		m.set(v1alpha2.VMProvisioningReady, true, v1alpha2.VMProvisioningReady, "")
		return nil
	}
	ref, kind := p.UserDataRef, v1alpha2.SecretTypeCloudInit
	if p.Type == v1alpha2.SysprepRef {
		ref, kind = p.SysprepRef, v1alpha2.SecretTypeSysprep
	}
	secret := new(corev1.Secret)
	err := m.Get(ctx, client.ObjectKey{Namespace: m.vm.Namespace, Name: ref.Name}, secret)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	_, data := secret.Data[v1alpha2.SecretKeyUserData]
	switch {
	case err != nil:
		m.set(v1alpha2.VMProvisioningReady, false, v1alpha2.VMProvisioningNotReady, fmt.Sprintf("Secret %q not found", ref.Name))
	case string(secret.Type) != kind:
		m.set(v1alpha2.VMProvisioningReady, false, v1alpha2.VMProvisioningNotReady, fmt.Sprintf("Secret %q is of type %q and must be of %q", ref.Name, secret.Type, kind))
	case p.Type == v1alpha2.UserDataRef && !data:
		m.set(v1alpha2.VMProvisioningReady, false, v1alpha2.VMProvisioningNotReady, fmt.Sprintf("Secret %q has no key %q", ref.Name, v1alpha2.SecretKeyUserData))
	default:
		m.set(v1alpha2.VMProvisioningReady, true, v1alpha2.VMProvisioningReady, "")
	}
	return nil
}
