package cloud

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// resources maps our types to the names by which the API's answers call them.
func resourceOf(object client.Object) (kind, resource string) {
	switch object.(type) {
	case *v1alpha2.VirtualMachine:
		return "VirtualMachine", "virtualmachines"
	case *v1alpha2.VirtualDisk:
		return "VirtualDisk", "virtualdisks"
	case *v1alpha2.VirtualMachineBlockDeviceAttachment:
		return "VirtualMachineBlockDeviceAttachment", "virtualmachineblockdeviceattachments"
	}
	panic(fmt.Sprintf("cloud: no name for %T", object)) // a mistake of this package alone
}

// call does one request for an object and judges the answer.
func (c *Cloud) call(ctx context.Context, verb string, object client.Object, do func(context.Context) error) error {
	kind, resource := resourceOf(object)
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	return judge(do(ctx), fmt.Sprintf("%s %s %q", verb, kind, object.GetName()), resource, object.GetName())
}

func (c *Cloud) read(ctx context.Context, object client.Object) error {
	return c.call(ctx, "read", object, func(ctx context.Context) error {
		return c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: object.GetName()}, object)
	})
}

func (c *Cloud) create(ctx context.Context, object client.Object) error {
	object.SetNamespace(c.namespace)
	return c.call(ctx, "create", object, func(ctx context.Context) error { return c.client.Create(ctx, object) })
}

// remove deletes the very object that was read before, and no later one of the same name.
func (c *Cloud) remove(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	return c.call(ctx, "delete", object, func(ctx context.Context) error {
		return c.client.Delete(ctx, object, client.Preconditions{UID: &uid})
	})
}
