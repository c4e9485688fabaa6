package capdvp

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// judge says how a machine is by the phase of its VirtualMachine.
func (r machines) judge(ctx context.Context, dm *v1alpha1.DeckhouseMachine, vm *v1alpha2.VirtualMachine, owner capiMachine) (time.Duration, error) {
	switch phase := vm.Status.Phase; {
	case !vm.DeletionTimestamp.IsZero():
		tell(dm, metav1.ConditionFalse, v1alpha1.VMNotReady, "the VirtualMachine is being removed from DVP")
		return r.Poll, nil
	case phase == v1alpha2.MachineRunning, phase == v1alpha2.MachineMigrating && dm.Spec.ProviderID != "":
		return r.running(ctx, dm, vm, owner)
	case phase == v1alpha2.MachineStopped:
		tell(dm, metav1.ConditionFalse, v1alpha1.VMInStoppedState, "the VirtualMachine is stopped"+r.parts(ctx, dm))
		return r.Poll, nil
	case phase == v1alpha2.MachineDegraded:
		tell(dm, metav1.ConditionFalse, v1alpha1.VMInFailedState, "the VirtualMachine is Degraded")
		if owner.node == "" {
			dm.Status.FailureReason, dm.Status.FailureMessage = v1alpha1.UpdateMachineError, "the VirtualMachine is Degraded"
		}
		return r.Poll, nil
	}
	boot, err := r.Cloud.Disk(ctx, bootDiskName(dm))
	if err != nil && !cloud.Is(err, cloud.NotFound) {
		return 0, err
	}
	if boot != nil {
		if _, why := cloud.DiskUsable(boot); why != nil {
			tell(dm, metav1.ConditionFalse, v1alpha1.BootDiskProvisioningFailed, why.Error())
			return r.Poll, nil // with a quota raised, or an image that appears, it goes on
		}
	}
	tell(dm, metav1.ConditionUnknown, v1alpha1.VMNotReady, fmt.Sprintf("the VirtualMachine is %s%s", vm.Status.Phase, why(vm)))
	return r.Poll, nil
}

// running tells all that Cluster API waits for. A machine without an address has nothing to tell yet.
func (r machines) running(ctx context.Context, dm *v1alpha1.DeckhouseMachine, vm *v1alpha2.VirtualMachine, owner capiMachine) (time.Duration, error) {
	address := vm.Status.IPAddress
	if address == "" {
		tell(dm, metav1.ConditionUnknown, v1alpha1.VMNotReady, "the VirtualMachine runs and has no address yet")
		return r.Poll, nil
	}
	err := r.Cloud.ApplySecret(ctx, secretName(dm), func(secret *corev1.Secret) {
		if secret.Type == v1alpha2.SecretTypeCloudInit { // it was read at the first start, and never again
			secret.Immutable = new(true)
		}
	})
	if err != nil {
		return 0, err
	}
	if dm.Spec.ProviderID == "" {
		before := dm.DeepCopy()
		dm.Spec.ProviderID = "dvp://" + vm.Name
		status := dm.Status
		if err := r.Patch(ctx, dm, client.MergeFrom(before)); err != nil {
			return 0, fmt.Errorf("write provider id: %w", err)
		}
		dm.Status = status // which the answer brought back as it was
	}
	dm.Status.Initialization = &v1alpha1.Initialization{Provisioned: new(true)}
	dm.Status.FailureReason, dm.Status.FailureMessage = "", ""
	dm.Status.Addresses = []v1alpha1.Address{
		{Type: "Hostname", Address: vm.Name},
		{Type: "InternalDNS", Address: vm.Name},
		{Type: "InternalIP", Address: address},
		{Type: "ExternalIP", Address: address},
	}
	tell(dm, metav1.ConditionTrue, v1alpha1.VMRunning, "")
	moving, err := r.migrate(ctx, dm)
	if err != nil || vm.Status.Phase != v1alpha2.MachineRunning {
		return moving, err
	}
	updating, err := r.update(ctx, dm, vm, owner)
	return min(moving, updating), err
}

// parts tells the states of what belongs to a machine, for people who wonder why it is stopped.
func (r machines) parts(ctx context.Context, dm *v1alpha1.DeckhouseMachine) string {
	disks, err := r.Cloud.Disks(ctx, dm.Name)
	if err != nil {
		return ""
	}
	var all []string
	for i := range disks {
		all = append(all, fmt.Sprintf("%s is %s", disks[i].Name, disks[i].Status.Phase))
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, ", ")
}

// why tells the conditions that keep a machine from running.
func why(vm *v1alpha2.VirtualMachine) string {
	var all []string
	for _, kind := range []string{
		v1alpha2.VMClassReady, v1alpha2.VMBlockDevicesReady, v1alpha2.VMProvisioningReady, v1alpha2.VMIPAddressReady, v1alpha2.VMRunning,
	} {
		if c := meta.FindStatusCondition(vm.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionFalse && c.Message != "" {
			all = append(all, c.Reason+": "+c.Message)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}
