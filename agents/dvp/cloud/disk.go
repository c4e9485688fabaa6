package cloud

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// Disk reads a disk by its name.
func (c *Cloud) Disk(ctx context.Context, name string) (*v1alpha2.VirtualDisk, error) {
	disk := &v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.read(ctx, disk); err != nil {
		return nil, err
	}
	return disk, nil
}

// CreateDisk makes a blank disk of size bytes. It is Conflict if there is one of this name.
func (c *Cloud) CreateDisk(ctx context.Context, name, storageClass string, size int64) (*v1alpha2.VirtualDisk, error) {
	disk := &v1alpha2.VirtualDisk{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: c.labels(map[string]string{LabelDisk: name})},
		Spec: v1alpha2.VirtualDiskSpec{PersistentVolumeClaim: v1alpha2.VolumeSpec{
			StorageClassName: &storageClass, Size: resource.NewQuantity(size, resource.BinarySI),
		}},
	}
	if err := c.create(ctx, disk); err != nil {
		return nil, err
	}
	return disk, nil
}

// Owned says whether an object was made for this cluster.
func (c *Cloud) Owned(object client.Object) bool {
	return object.GetLabels()[LabelClusterUUID] == c.cluster
}

// AwaitDisk waits until a disk can be used: it is Ready, or waits for the machine that uses it
// first. Quota and states that a disk does not leave by itself end the waiting.
func (c *Cloud) AwaitDisk(ctx context.Context, disk *v1alpha2.VirtualDisk) error {
	return await(ctx, c, disk, &v1alpha2.VirtualDiskList{}, DiskUsable)
}

// DiskUsable says whether a disk can be given to a machine, and why it never will.
func DiskUsable(disk *v1alpha2.VirtualDisk) (bool, error) {
	doing := fmt.Sprintf("provide VirtualDisk %q", disk.Name)
	switch disk.Status.Phase {
	case v1alpha2.DiskPhaseReady, v1alpha2.DiskPhaseWaitForConsumer, v1alpha2.DiskPhaseResizing, v1alpha2.DiskPhaseMigrating:
		return true, nil
	case v1alpha2.DiskPhaseFailed, v1alpha2.DiskPhasePVCLost:
		return false, failf(Failed, doing, "it is %s: %s", disk.Status.Phase, readiness(disk).Message)
	}
	switch ready := readiness(disk); ready.Reason {
	case v1alpha2.DiskQuotaExceeded:
		return false, failf(Quota, doing, "%s", ready.Message)
	case v1alpha2.DiskClassIsNotReady, v1alpha2.DiskProvisioningFailed, v1alpha2.DiskImagePullFailed, v1alpha2.DiskDatasourceNotFound:
		return false, failf(Failed, doing, "%s: %s", ready.Reason, ready.Message)
	}
	return false, nil
}

func readiness(disk *v1alpha2.VirtualDisk) metav1.Condition {
	if found := meta.FindStatusCondition(disk.Status.Conditions, v1alpha2.DiskReady); found != nil {
		return *found
	}
	return metav1.Condition{Reason: v1alpha2.ReasonUnknown}
}

// DiskSize is the capacity of a disk in bytes, or what was asked for while it has none.
func DiskSize(disk *v1alpha2.VirtualDisk) (int64, error) {
	if disk.Status.Capacity != "" {
		capacity, err := resource.ParseQuantity(disk.Status.Capacity)
		if err != nil {
			return 0, failf(Failed, fmt.Sprintf("read capacity of VirtualDisk %q", disk.Name), "%w", err)
		}
		return capacity.Value(), nil
	}
	if size := disk.Spec.PersistentVolumeClaim.Size; size != nil {
		return size.Value(), nil
	}
	return 0, nil
}

// ResizeDisk asks for size bytes and waits until the disk has them. A disk without a volume yet is
// only asked for more.
func (c *Cloud) ResizeDisk(ctx context.Context, disk *v1alpha2.VirtualDisk, size int64) error {
	if asked := disk.Spec.PersistentVolumeClaim.Size; asked == nil || asked.Value() < size {
		before := disk.DeepCopy()
		disk.Spec.PersistentVolumeClaim.Size = resource.NewQuantity(size, resource.BinarySI)
		err := c.call(ctx, "resize", disk, func(ctx context.Context) error {
			// Whatever else changes on the disk meanwhile: DVP refuses to make it smaller.
			return c.client.Patch(ctx, disk, client.MergeFrom(before))
		})
		if err != nil {
			return err
		}
	}
	return await(ctx, c, disk, &v1alpha2.VirtualDiskList{}, func(now *v1alpha2.VirtualDisk) (bool, error) {
		if now.Status.Phase == v1alpha2.DiskPhaseWaitForConsumer {
			return true, nil
		}
		resizing := meta.FindStatusCondition(now.Status.Conditions, v1alpha2.DiskResizing)
		if resizing != nil && resizing.Reason == v1alpha2.DiskResizingNotAvailable && resizing.ObservedGeneration == now.Generation {
			return false, failf(Quota, fmt.Sprintf("resize VirtualDisk %q", now.Name), "%s", resizing.Message)
		}
		has, err := DiskSize(now)
		return now.Status.Capacity != "" && has >= size, err
	})
}

// DeleteDisk removes a disk and waits until it is gone. It is nothing if there is none.
func (c *Cloud) DeleteDisk(ctx context.Context, disk *v1alpha2.VirtualDisk) error {
	if err := c.remove(ctx, disk); Is(err, NotFound) {
		return nil
	} else if err != nil {
		return err
	}
	return awaitGone(ctx, c, disk, &v1alpha2.VirtualDiskList{})
}

// MoveDisk asks DVP to take a disk to another storage class.
func (c *Cloud) MoveDisk(ctx context.Context, disk *v1alpha2.VirtualDisk, class string) error {
	before := disk.DeepCopy()
	disk.Spec.PersistentVolumeClaim.StorageClassName = &class
	return c.call(ctx, "move", disk, func(ctx context.Context) error { return c.client.Patch(ctx, disk, client.MergeFrom(before)) })
}
