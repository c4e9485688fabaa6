package cloud

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	case *v1alpha2.VirtualMachineClass:
		return "VirtualMachineClass", "virtualmachineclasses"
	case *v1alpha2.VirtualImage:
		return "VirtualImage", "virtualimages"
	case *v1alpha2.ClusterVirtualImage:
		return "ClusterVirtualImage", "clustervirtualimages"
	case *v1alpha2.VirtualMachineIPAddress:
		return "VirtualMachineIPAddress", "virtualmachineipaddresses"
	case *v1alpha2.VirtualMachineOperation:
		return "VirtualMachineOperation", "virtualmachineoperations"
	case *corev1.Service:
		return "Service", "services"
	case *corev1.Secret:
		return "Secret", "secrets"
	case *networkingv1.NetworkPolicy:
		return "NetworkPolicy", "networkpolicies"
	case *unstructured.Unstructured:
		if kind := object.GetObjectKind().GroupVersionKind(); kind == healthchecksKind {
			return kind.Kind, healthchecksResource
		}
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
		key := client.ObjectKey{Namespace: c.namespace, Name: object.GetName()}
		switch object.(type) {
		case *v1alpha2.VirtualMachineClass, *v1alpha2.ClusterVirtualImage:
			key.Namespace = "" // all projects share them
		}
		if err := c.client.Get(ctx, key, object); err != nil {
			return err
		}
		if object.GetUID() == "" { // which every object of Kubernetes has
			return errNotDVP
		}
		return nil
	})
}

// errNotDVP is about an answer that has the form of DVP's and cannot be its: "{}" of something on the
// way would be an object without a name, or a list that says that nothing is there.
var errNotDVP = errors.New("the answer is not one of DVP")

// list lists objects. A list of Kubernetes has a version, even if there is nothing in it.
func (c *Cloud) list(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := c.client.List(ctx, list, options...); err != nil {
		return err
	}
	if list.GetResourceVersion() == "" {
		return errNotDVP
	}
	return nil
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

// applyAttempts is how often a change is tried that others' changes come before.
const applyAttempts = 10

// apply makes an object as change says, or changes the one that is there. One that is not of this
// cluster is a Conflict. Nothing is written if nothing differs.
func apply[T client.Object](ctx context.Context, c *Cloud, object T, change func(T)) (T, error) {
	name, fresh := object.GetName(), object.DeepCopyObject().(T)
	for attempt := 1; ; attempt++ {
		err := c.applyOnce(ctx, object, func() { change(object) })
		if !Is(err, Conflict) || attempt == applyAttempts || ctx.Err() != nil {
			return object, err
		}
		object = fresh.DeepCopyObject().(T)
		object.SetName(name)
	}
}

func (c *Cloud) applyOnce(ctx context.Context, object client.Object, change func()) error {
	err := c.read(ctx, object)
	if Is(err, NotFound) {
		object.SetLabels(c.labels(nil))
		change()
		return c.create(ctx, object)
	} else if err != nil {
		return err
	}
	kind, _ := resourceOf(object)
	switch doing := fmt.Sprintf("change %s %q", kind, object.GetName()); {
	case !c.Owned(object):
		return failf(Failed, doing, "it is not of this cluster")
	case object.GetDeletionTimestamp() != nil:
		return failf(Failed, doing, "it is being deleted")
	}
	before := object.DeepCopyObject()
	change()
	if apiequality.Semantic.DeepEqual(before, object) {
		return nil
	}
	return c.call(ctx, "change", object, func(ctx context.Context) error { return c.client.Update(ctx, object) })
}

// removeOwned deletes an object of this cluster by its name. It is nothing if there is none.
func (c *Cloud) removeOwned(ctx context.Context, object client.Object) error {
	err := c.read(ctx, object)
	switch {
	case Is(err, NotFound):
		return nil
	case err != nil:
		return err
	case !c.Owned(object):
		kind, _ := resourceOf(object)
		return failf(Failed, fmt.Sprintf("delete %s %q", kind, object.GetName()), "it is not of this cluster")
	}
	if err := c.remove(ctx, object); !Is(err, NotFound) {
		return err
	}
	return nil
}
