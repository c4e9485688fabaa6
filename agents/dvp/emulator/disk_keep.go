package emulator

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

func ownerUID(s string) types.UID { return types.UID("/" + s) }

// keep follows changes of a disk that is ready: more space, or another class.
func (d *disk) keep(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if moving, err := d.move(ctx, claim); moving || err != nil {
		return err
	}
	want, request := d.vd.Spec.PersistentVolumeClaim.Size, claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if want != nil && want.Cmp(request) > 0 {
		before := claim.DeepCopy()
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: *want}
		err := d.Patch(ctx, claim, client.MergeFrom(before))
		if apierrors.IsForbidden(err) {
			d.vd.Status.Phase = v1alpha2.DiskPhaseReady
			d.set(v1alpha2.DiskResizing, false, v1alpha2.DiskResizingNotAvailable, err.Error())
			d.result = again(time.Second)
			return nil
		} else if err != nil {
			return err
		}
		request = *want
	}
	if has := claim.Status.Capacity[corev1.ResourceStorage]; request.Cmp(has) <= 0 {
		d.vd.Status.Phase, d.vd.Status.Capacity = v1alpha2.DiskPhaseReady, has.String()
		meta.RemoveStatusCondition(&d.vd.Status.Conditions, v1alpha2.DiskResizing)
		return nil
	}
	return d.enlarge(ctx, claim, request)
}

func (d *disk) enlarge(ctx context.Context, claim *corev1.PersistentVolumeClaim, size resource.Quantity) error {
	d.vd.Status.Phase = v1alpha2.DiskPhaseResizing
	d.set(v1alpha2.DiskResizing, true, v1alpha2.DiskResizingInProgress, "")
	if left := d.timers.left(d.vd.UID, "resize", d.delay.Resize); left > 0 {
		d.result = again(left)
		return nil
	}
	d.timers.forget(d.vd.UID, "resize")
	return d.grow(ctx, claim, size) // the claim's change is the next look
}

// move takes a disk to the class that its spec names, while it is mounted. A move that failed is
// not tried again before the spec changes.
func (d *disk) move(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	status, want := &d.vd.Status, d.vd.Spec.PersistentVolumeClaim.StorageClassName
	if want == nil || *want == "" || *want == status.StorageClassName {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha2.DiskMigrating)
		return false, nil
	}
	class, err := d.class(ctx, want)
	if err != nil {
		return false, err
	}
	if class == nil {
		d.set(v1alpha2.DiskMigrating, false, v1alpha2.DiskMigratingClassMissing, "there is no StorageClass "+*want)
		return false, nil
	}
	target := claimName(d.vd, class.Name)
	last := status.MigrationState
	if last != nil && last.TargetPVC == target && last.Result == v1alpha2.MigrationFailed {
		return false, nil
	}
	if !d.mounted && (last == nil || last.EndTimestamp != nil) {
		return false, nil // it is moved by the machine that has it mounted
	}
	now := metav1.Now()
	if last == nil || last.EndTimestamp != nil {
		if err := d.makeClaim(ctx, target, class.Name, claim.Spec.Resources.Requests[corev1.ResourceStorage]); err != nil {
			return false, err
		}
		last = &v1alpha2.DiskMigrations{SourcePVC: claim.Name, TargetPVC: target, StartTimestamp: &now}
		status.MigrationState = last
		d.timers.forget(d.vd.UID, "migrate")
	}
	status.Phase = v1alpha2.DiskPhaseMigrating
	d.set(v1alpha2.DiskMigrating, true, v1alpha2.DiskMigratingInProgress, "")
	if left := d.timers.left(d.vd.UID, "migrate", d.delay.Migrate); left > 0 {
		d.result = again(left)
		return true, nil
	}
	made := new(corev1.PersistentVolumeClaim)
	if err := d.Get(ctx, client.ObjectKey{Namespace: d.vd.Namespace, Name: last.TargetPVC}, made); err != nil {
		return false, err
	}
	last.EndTimestamp, last.Result = &now, v1alpha2.MigrationSucceeded
	d.left = claim
	if d.faulty(ctx, d.vd, FaultMigrationFailed) {
		last.Result, last.Message, d.left = v1alpha2.MigrationFailed, "the emulator was told to fail", made
	} else {
		if err := d.grow(ctx, made, made.Spec.Resources.Requests[corev1.ResourceStorage]); err != nil {
			return false, err
		}
		status.StorageClassName, status.Target.PersistentVolumeClaimName = class.Name, made.Name
	}
	status.Phase = v1alpha2.DiskPhaseReady
	meta.RemoveStatusCondition(&status.Conditions, v1alpha2.DiskMigrating)
	return true, nil
}
