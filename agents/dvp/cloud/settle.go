package cloud

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// Read reads the object of the name that it has.
func (c *Cloud) Read(ctx context.Context, object client.Object) error { return c.read(ctx, object) }

// Apply makes an object as change says, or changes the one that is there. One that is not of this
// cluster, or that is being deleted, fails with Failed. Nothing is written if nothing differs.
func Apply[T client.Object](ctx context.Context, c *Cloud, object T, change func(T)) (T, error) {
	return apply(ctx, c, object, change)
}

// Delete removes the very object that was read and waits until it is gone. It is nothing if that is
// gone already.
func (c *Cloud) Delete(ctx context.Context, object client.Object) error {
	list := listOf(object)
	if list == nil {
		return failf(Invalid, fmt.Sprintf("delete %T", object), "nobody waits for the end of this kind")
	}
	if object.GetDeletionTimestamp() == nil {
		if err := c.remove(ctx, object); Is(err, NotFound) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return awaitGone(ctx, c, object, list)
}

// Await watches the object of a name until done says so or fails. Its end is an error of kind
// NotFound. While DVP is unreachable it goes on until the context ends.
func Await[T client.Object](ctx context.Context, c *Cloud, object T, done func(T) (bool, error)) error {
	return await(ctx, c, object, listOf(object), done)
}

func listOf(object client.Object) client.ObjectList {
	switch object.(type) {
	case *v1alpha2.VirtualMachine:
		return &v1alpha2.VirtualMachineList{}
	case *v1alpha2.VirtualDisk:
		return &v1alpha2.VirtualDiskList{}
	case *v1alpha2.VirtualMachineIPAddress:
		return &v1alpha2.VirtualMachineIPAddressList{}
	case *v1alpha2.VirtualMachineOperation:
		return &v1alpha2.VirtualMachineOperationList{}
	case *corev1.Secret:
		return &corev1.SecretList{}
	case *networkingv1.NetworkPolicy:
		return &networkingv1.NetworkPolicyList{}
	}
	return nil
}
