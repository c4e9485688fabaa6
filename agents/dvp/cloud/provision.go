package cloud

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// mark puts the labels of this cluster on an object besides its own.
func (c *Cloud) mark(object client.Object) {
	all := maps.Clone(object.GetLabels())
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, c.labels(nil))
	object.SetLabels(all)
}

// Create makes a machine, a disk or a Secret of this cluster. It is Conflict if there is one of this name.
func (c *Cloud) Create(ctx context.Context, object client.Object) error {
	c.mark(object)
	return c.create(ctx, object)
}

// OwnedBy are the references by which an object goes with a machine.
func OwnedBy(machine *v1alpha2.VirtualMachine) []metav1.OwnerReference {
	return []metav1.OwnerReference{{
		APIVersion: v1alpha2.GroupVersion.String(), Kind: v1alpha2.KindVirtualMachine, Name: machine.Name, UID: machine.UID,
	}}
}

// ApplySecret makes a Secret, or changes it.
func (c *Cloud) ApplySecret(ctx context.Context, name string, change func(*corev1.Secret)) error {
	_, err := apply(ctx, c, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, change)
	return err
}

// Class says whether there is a class of machines: NotFound if not.
func (c *Cloud) Class(ctx context.Context, name string) error {
	return c.read(ctx, &v1alpha2.VirtualMachineClass{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// Image says whether there is an image of a kind: NotFound if not.
func (c *Cloud) Image(ctx context.Context, kind, name string) error {
	switch kind {
	case v1alpha2.KindVirtualImage:
		return c.read(ctx, &v1alpha2.VirtualImage{ObjectMeta: metav1.ObjectMeta{Name: name}})
	case v1alpha2.KindClusterVirtualImage:
		return c.read(ctx, &v1alpha2.ClusterVirtualImage{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return failf(Invalid, fmt.Sprintf("read image %q", name), "a machine cannot boot from a %s", kind)
}

// Remove deletes the very object that was read. It is nothing if that is gone.
func (c *Cloud) Remove(ctx context.Context, object client.Object) error {
	if err := c.remove(ctx, object); !Is(err, NotFound) {
		return err
	}
	return nil
}

// Disks lists the disks that were made for a node.
func (c *Cloud) Disks(ctx context.Context, node string) ([]v1alpha2.VirtualDisk, error) {
	var all v1alpha2.VirtualDiskList
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	if err := c.list(ctx, &all, client.InNamespace(c.namespace), client.MatchingLabels{LabelClusterUUID: c.cluster, LabelHostname: node}); err != nil {
		return nil, judge(err, "list VirtualDisks", "virtualdisks", "")
	}
	return all.Items, nil
}

// DeleteSecret removes a Secret of ours, if there is one.
func (c *Cloud) DeleteSecret(ctx context.Context, name string) error {
	return c.removeOwned(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// everything are the kinds of which a cluster may have objects in DVP, in the order of removal.
func everything() []client.ObjectList {
	return []client.ObjectList{
		&v1alpha2.VirtualMachineOperationList{}, &v1alpha2.VirtualMachineBlockDeviceAttachmentList{}, &corev1.ServiceList{},
		&v1alpha2.VirtualMachineList{}, &v1alpha2.VirtualDiskList{}, &corev1.SecretList{}, &v1alpha2.VirtualMachineIPAddressList{},
		&networkingv1.NetworkPolicyList{},
	}
}

// DeleteEverything begins to remove all that is marked as this cluster's, and says how much of it
// is still there.
func (c *Cloud) DeleteEverything(ctx context.Context) (left int, err error) {
	if c.cluster == "" { // or all that nobody marked would be ours
		return 0, failf(Invalid, "delete all of the cluster", "the cluster has no uuid")
	}
	for _, list := range everything() {
		found, err := c.deleteAll(ctx, list)
		if left += found; err != nil {
			return left, err
		}
	}
	if served, err := c.ServesHealthchecks(ctx); err != nil || !served {
		return left, err
	}
	found, err := c.deleteAll(ctx, healthchecksList())
	return left + found, err
}

func (c *Cloud) deleteAll(ctx context.Context, list client.ObjectList) (found int, err error) {
	listing, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	if err := c.list(listing, list, client.InNamespace(c.namespace), client.MatchingLabels{LabelClusterUUID: c.cluster}); err != nil {
		return 0, judge(err, "list all of the cluster", "", "")
	}
	all, err := meta.ExtractList(list)
	if err != nil {
		return 0, fmt.Errorf("list all of the cluster: %w", err)
	}
	for _, item := range all {
		object, ok := item.(client.Object)
		if !ok || object.GetDeletionTimestamp() != nil {
			continue
		}
		if err := c.Remove(ctx, object); err != nil {
			return len(all), err
		}
	}
	return len(all), nil
}
