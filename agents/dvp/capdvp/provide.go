package capdvp

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// bootstrapKey is that of the script in the Secret of Cluster API.
const bootstrapKey = "value"

// provide makes what a machine needs in DVP and says how it is. It returns when to look again.
func (r machines) provide(ctx context.Context, dm *v1alpha1.DeckhouseMachine, owner capiMachine, cluster capiCluster) (time.Duration, error) {
	vm, err := r.Cloud.Machine(ctx, dm.Name)
	switch {
	case cloud.Is(err, cloud.NotFound) && dm.Spec.ProviderID != "":
		return r.lost(ctx, dm)
	case cloud.Is(err, cloud.NotFound):
		vm = nil
	case err != nil:
		return 0, err
	case !r.Cloud.Owned(vm) || vm.Labels[cloud.LabelHostname] != dm.Name:
		tell(dm, metav1.ConditionFalse, v1alpha1.VMError, fmt.Sprintf("VirtualMachine %q is there and was not made for this machine: remove it, or its name stays taken", vm.Name))
		return steadyPoll, nil
	}
	if dm.Spec.ProviderID == "" { // it never ran, so there may be something to make
		if vm == nil && !cluster.infrastructure {
			tell(dm, metav1.ConditionFalse, v1alpha1.WaitingForInfrastructure, "the cluster's infrastructure is not ready")
			return r.Poll, nil
		}
		if owner.bootstrap == "" {
			tell(dm, metav1.ConditionFalse, v1alpha1.WaitingForBootstrapScript, "the Machine has no bootstrap data yet")
			return steadyPoll, nil
		}
		if vm, err = r.make(ctx, dm, owner, vm); err != nil {
			return r.refused(dm, err)
		}
	}
	return r.judge(ctx, dm, vm, owner)
}

// lost tells of a machine that ran and is gone. It is not made anew, since its disks went with it:
// a Machine is replaced as a whole.
func (r machines) lost(ctx context.Context, dm *v1alpha1.DeckhouseMachine) (time.Duration, error) {
	gone, err := cloud.Gone(ctx, func(ctx context.Context) error {
		_, err := r.Cloud.Machine(ctx, dm.Name)
		return err
	})
	if err != nil || !gone {
		return r.Poll, err
	}
	tell(dm, metav1.ConditionFalse, v1alpha1.VMError, "the VirtualMachine was removed from DVP; replace the Machine")
	dm.Status.FailureReason, dm.Status.FailureMessage = v1alpha1.UpdateMachineError, "the VirtualMachine was removed from DVP"
	return steadyPoll, nil
}

// make makes the machine first and then what it waits for, which goes with it. Each may be there
// from an attempt before.
func (r machines) make(ctx context.Context, dm *v1alpha1.DeckhouseMachine, owner capiMachine, vm *v1alpha2.VirtualMachine) (*v1alpha2.VirtualMachine, error) {
	script, err := r.bootstrap(ctx, dm.Namespace, owner.bootstrap)
	if err != nil {
		return nil, err
	}
	if vm == nil {
		if err := r.check(ctx, dm); err != nil {
			return nil, err
		}
		vm = machineOf(dm, owner)
		if err := r.Cloud.Create(ctx, vm); err != nil {
			return nil, err
		}
		say(dm, v1alpha1.ConditionInPlace, metav1.ConditionTrue, v1alpha1.UpToDate, "")
	}
	err = r.Cloud.ApplySecret(ctx, secretName(dm), func(secret *corev1.Secret) {
		secret.OwnerReferences = cloud.OwnedBy(vm)
		secret.Labels[cloud.LabelHostname] = dm.Name
		if secret.Immutable == nil || !*secret.Immutable {
			secret.Type, secret.Data = v1alpha2.SecretTypeCloudInit, map[string][]byte{v1alpha2.SecretKeyUserData: script}
		}
	})
	if err != nil {
		return nil, err
	}
	for _, disk := range disksOf(dm, vm) {
		if _, err := r.Cloud.Disk(ctx, disk.Name); err == nil {
			continue
		} else if !cloud.Is(err, cloud.NotFound) {
			return nil, err
		}
		if err := r.Cloud.Create(ctx, disk); err != nil && !cloud.Is(err, cloud.Conflict) {
			return nil, err
		}
	}
	return vm, nil
}

// bootstrap reads the script of a machine.
func (r machines) bootstrap(ctx context.Context, namespace, name string) ([]byte, error) {
	secret := new(corev1.Secret)
	err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &cloud.Error{Kind: cloud.Invalid, Doing: "read bootstrap data", Cause: fmt.Errorf("there is no Secret %s/%s", namespace, name)}
	case err != nil:
		return nil, fmt.Errorf("read bootstrap data: %w", err)
	case len(secret.Data[bootstrapKey]) == 0:
		return nil, &cloud.Error{Kind: cloud.Invalid, Doing: "read bootstrap data", Cause: fmt.Errorf("the Secret %s/%s has no key %s", namespace, name, bootstrapKey)}
	}
	return secret.Data[bootstrapKey], nil
}

// check looks for what the machine is made of, so that what is missing is named.
func (r machines) check(ctx context.Context, dm *v1alpha1.DeckhouseMachine) error {
	if err := r.Cloud.Class(ctx, dm.Spec.VMClassName); err != nil {
		return err
	}
	return r.Cloud.Image(ctx, dm.Spec.BootDiskImageRef.Kind, dm.Spec.BootDiskImageRef.Name)
}

// refused tells why a machine cannot be made, and tries again later: people add classes and images,
// and raise quotas.
func (r machines) refused(dm *v1alpha1.DeckhouseMachine, err error) (time.Duration, error) {
	hint := ""
	switch cloud.KindOf(err) {
	case cloud.Unreachable:
		return 0, err
	case cloud.Conflict:
		return r.Poll, nil // it is read again
	case cloud.Quota:
		hint = "DVP's quota or limits are used up: "
	case cloud.Forbidden:
		hint = "DVP does not let us: "
	case cloud.NotFound, cloud.Invalid, cloud.Failed:
	}
	tell(dm, metav1.ConditionFalse, v1alpha1.VMError, hint+strings.TrimSpace(err.Error()))
	return retryPause(r.Poll), nil
}

// retryPause is before a refused machine is tried anew: slower than what is under way is looked at.
func retryPause(poll time.Duration) time.Duration { return 3 * poll }
