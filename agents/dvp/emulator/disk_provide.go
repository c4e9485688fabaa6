package emulator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

type ownerReference = metav1.OwnerReference

// provide brings a disk to Ready, and keeps it as its spec says.
func (d *disk) provide(ctx context.Context) error {
	status := &d.vd.Status
	was := meta.IsStatusConditionTrue(status.Conditions, v1alpha2.DiskReady) || status.Phase == v1alpha2.DiskPhasePVCLost
	claim, err := d.claim(ctx)
	if err != nil {
		return err
	}
	switch {
	case was && (claim == nil || !claim.DeletionTimestamp.IsZero() || claim.Status.Phase == corev1.ClaimLost):
		d.state(v1alpha2.DiskPhasePVCLost, v1alpha2.DiskPVCLost, "the claim for its volume is gone")
		if claim != nil && !claim.DeletionTimestamp.IsZero() {
			return d.dropClaim(ctx, claim)
		}
		return nil
	case was:
		return d.keep(ctx, claim)
	}
	minimum, ok, err := d.source(ctx)
	if err != nil || !ok {
		return err
	}
	class, err := d.class(ctx, d.vd.Spec.PersistentVolumeClaim.StorageClassName)
	if err != nil {
		return err
	}
	if class == nil {
		d.set(v1alpha2.DiskStorageClassReady, false, v1alpha2.DiskStorageClassNotReady, "there is no such StorageClass")
		d.state(v1alpha2.DiskPhasePending, v1alpha2.DiskClassIsNotReady, "there is no such StorageClass")
		return nil
	}
	status.StorageClassName = class.Name
	d.set(v1alpha2.DiskStorageClassReady, true, v1alpha2.DiskStorageClassReady, "")
	if claim == nil {
		if err := d.makeClaim(ctx, claimName(d.vd, class.Name), class.Name, minimum); apierrors.IsForbidden(err) {
			status.Progress = ""
			d.state(v1alpha2.DiskPhasePending, v1alpha2.DiskQuotaExceeded, err.Error())
			d.result = again(quotaPause)
			return nil
		} else if err != nil {
			return err
		}
		d.state(v1alpha2.DiskPhaseProvisioning, v1alpha2.DiskProvisioning, "")
		return nil // the claim's arrival is the next look
	}
	return d.bind(ctx, claim, class)
}

// bind waits for the volume and then says that it is there.
func (d *disk) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	status := &d.vd.Status
	status.Target.PersistentVolumeClaimName = claim.Name
	if late := class.VolumeBindingMode; late != nil && *late == storagev1.VolumeBindingWaitForFirstConsumer && !d.placed && claim.Status.Phase != corev1.ClaimBound {
		d.timers.forget(d.vd.UID, "provision")
		d.state(v1alpha2.DiskPhaseWaitForConsumer, v1alpha2.DiskWaitingForConsumer, "")
		return nil
	}
	for fault, reason := range map[string]string{FaultProvisioningFailed: v1alpha2.DiskProvisioningFailed, FaultImagePullFailed: v1alpha2.DiskImagePullFailed} {
		if d.faulty(ctx, d.vd, fault) {
			d.state(v1alpha2.DiskPhaseFailed, reason, "the emulator was told to fail")
			return nil
		}
	}
	took := d.delay.Provision
	if left := d.timers.left(d.vd.UID, "provision", took); left > 0 {
		status.Progress = progress(left, took)
		d.state(v1alpha2.DiskPhaseProvisioning, v1alpha2.DiskProvisioning, "")
		d.result = step(left, took)
		return nil
	}
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if err := d.grow(ctx, claim, size); err != nil {
		return err
	}
	status.Progress, status.Capacity = "100%", size.String()
	d.state(v1alpha2.DiskPhaseReady, "Ready", "")
	return nil
}

// grow plays the provisioner: the claim is bound and has so much.
func (d *disk) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim, size resource.Quantity) error {
	before := claim.DeepCopy()
	claim.Status.Phase = corev1.ClaimBound
	claim.Status.AccessModes = claim.Spec.AccessModes
	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: size}
	return d.Status().Patch(ctx, claim, client.MergeFrom(before))
}

func claimName(vd *v1alpha2.VirtualDisk, class string) string {
	// The class is part of it, since a disk that moves between classes has two.
	return fmt.Sprintf("d8v-vd-%s-%s", vd.UID, v1alpha2.DiskSerial(vd.UID + ownerUID(class))[:5])
}

// claim is the one in use, or nil.
func (d *disk) claim(ctx context.Context) (*corev1.PersistentVolumeClaim, error) {
	name := d.vd.Status.Target.PersistentVolumeClaimName
	if name == "" && d.vd.Status.StorageClassName != "" {
		name = claimName(d.vd, d.vd.Status.StorageClassName)
	}
	if name == "" {
		return nil, nil
	}
	claim := new(corev1.PersistentVolumeClaim)
	if err := d.Get(ctx, client.ObjectKey{Namespace: d.vd.Namespace, Name: name}, claim); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return claim, nil
}

func (d *disk) makeClaim(ctx context.Context, name, class string, minimum resource.Quantity) error {
	size := minimum
	if asked := d.vd.Spec.PersistentVolumeClaim.Size; asked != nil {
		size = *asked
	}
	mode := corev1.PersistentVolumeBlock
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.vd.Namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, VolumeMode: &mode,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
	if err := controllerutil.SetControllerReference(d.vd, claim, d.Scheme()); err != nil {
		return err
	}
	if err := d.Create(ctx, claim); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// class finds a StorageClass by its name, or the default one; nil if there is none.
func (d *disk) class(ctx context.Context, name *string) (*storagev1.StorageClass, error) {
	if name != nil && *name != "" {
		class := new(storagev1.StorageClass)
		if err := d.Get(ctx, client.ObjectKey{Name: *name}, class); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		return class, nil
	}
	var all storagev1.StorageClassList
	if err := d.List(ctx, &all); err != nil {
		return nil, err
	}
	for i := range all.Items {
		if all.Items[i].Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			return &all.Items[i], nil
		}
	}
	return nil, nil
}

// source says whether what the disk is made from is there, and how large it is.
func (d *disk) source(ctx context.Context) (minimum resource.Quantity, ok bool, err error) {
	s := d.vd.Spec.DataSource
	if s == nil || s.ObjectRef == nil {
		d.set(v1alpha2.DiskDatasourceReady, true, v1alpha2.DiskDatasourceReady, "")
		return resource.MustParse("1Gi"), true, nil
	}
	ref := s.ObjectRef
	if ref.Kind == v1alpha2.KindVirtualDiskSnapshot {
		d.set(v1alpha2.DiskDatasourceReady, false, ref.Kind, "the emulator has no snapshots")
		d.state(v1alpha2.DiskPhasePending, v1alpha2.DiskDatasourceNotFound, "the emulator has no snapshots")
		return minimum, false, nil
	}
	image, err := imageOf(ctx, d, d.vd.Namespace, ref.Kind, ref.Name)
	if err != nil {
		return minimum, false, err
	}
	cluster := ref.Kind == v1alpha2.KindClusterVirtualImage
	switch {
	case image == nil:
		d.set(v1alpha2.DiskDatasourceReady, false, pick(cluster, v1alpha2.DiskClusterImageNotFound, v1alpha2.DiskImageNotFound), "")
		d.state(v1alpha2.DiskPhasePending, v1alpha2.DiskDatasourceNotFound, fmt.Sprintf("%s %q not found", ref.Kind, ref.Name))
		return minimum, false, nil
	case image.Phase != v1alpha2.ImagePhaseReady:
		d.set(v1alpha2.DiskDatasourceReady, false, pick(cluster, v1alpha2.DiskClusterImageNotReady, v1alpha2.DiskImageNotReady), "")
		d.state(v1alpha2.DiskPhasePending, v1alpha2.DiskDatasourceNotReady, fmt.Sprintf("%s %q is not ready", ref.Kind, ref.Name))
		return minimum, false, nil
	case image.CDROM:
		d.state(v1alpha2.DiskPhaseFailed, v1alpha2.DiskProvisioningFailed, "a disk cannot be made from an ISO")
		return minimum, false, nil
	}
	d.set(v1alpha2.DiskDatasourceReady, true, v1alpha2.DiskDatasourceReady, "")
	minimum, err = resource.ParseQuantity(image.Size.Unpacked)
	return minimum, err == nil, err
}
