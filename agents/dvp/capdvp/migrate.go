package capdvp

import (
	"context"
	"fmt"
	"slices"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// migrationBound is how long DVP may take to move one disk.
const migrationBound = 2 * time.Hour

// migrate moves the disks of a running machine to the classes that are wanted, one at a time and
// the boot disk first. A move that failed is tried again when the machine's spec changes.
func (r machines) migrate(ctx context.Context, dm *v1alpha1.DeckhouseMachine) (time.Duration, error) {
	last := meta.FindStatusCondition(dm.Status.Conditions, v1alpha1.ConditionMigration)
	wanted := [][2]string{{bootDiskName(dm), dm.Spec.RootDiskStorageClass}}
	for i := range dm.Spec.AdditionalDisks {
		wanted = append(wanted, [2]string{additionalDiskName(dm, i), dm.Spec.AdditionalDisks[i].StorageClass})
	}
	if last != nil && last.Reason == v1alpha1.DiskMigrationFailed {
		// Only now that the failure is written: or the next look would begin anew.
		for _, w := range wanted {
			if err := r.noteMigration(ctx, dm, w[0], ""); err != nil {
				return 0, err
			}
		}
		if last.ObservedGeneration == dm.Generation {
			return steadyPoll, nil
		}
	}
	for _, w := range wanted {
		name, class := w[0], w[1]
		if class == "" { // of a version that did not ask for it
			continue
		}
		done, err := r.migrateDisk(ctx, dm, name, class)
		switch {
		case cloud.Is(err, cloud.Failed):
			say(dm, v1alpha1.ConditionMigration, metav1.ConditionFalse, v1alpha1.DiskMigrationFailed, err.Error())
			return r.Poll, nil
		case err != nil:
			return 0, err
		case !done:
			say(dm, v1alpha1.ConditionMigration, metav1.ConditionUnknown, v1alpha1.DiskMigrationInProgress, fmt.Sprintf("%s is moved to %s", name, class))
			return r.Poll, nil
		}
	}
	if last != nil {
		say(dm, v1alpha1.ConditionMigration, metav1.ConditionTrue, v1alpha1.DiskMigrationCompleted, "")
	}
	return steadyPoll, nil
}

// migrateDisk brings one disk a step further. It fails with Failed when the disk will not arrive.
func (r machines) migrateDisk(ctx context.Context, dm *v1alpha1.DeckhouseMachine, name, class string) (done bool, err error) {
	disk, err := r.Cloud.Disk(ctx, name)
	if cloud.Is(err, cloud.NotFound) {
		return true, nil // a machine made by a version that had no such disk
	} else if err != nil {
		return false, err
	}
	failed := func(format string, args ...any) error {
		return &cloud.Error{Kind: cloud.Failed, Doing: fmt.Sprintf("move %s to %s", name, class), Cause: fmt.Errorf(format, args...)}
	}
	asked := disk.Spec.PersistentVolumeClaim.StorageClassName
	has := disk.Status.StorageClassName
	if asked != nil && *asked == class && (has == class || has == "") {
		return true, r.noteMigration(ctx, dm, name, "")
	}
	if phase := disk.Status.Phase; phase == v1alpha2.DiskPhaseFailed || phase == v1alpha2.DiskPhasePVCLost {
		return false, failed("the disk is %s", phase)
	}
	started, err := time.Parse(time.RFC3339, dm.Annotations[migrationKey(name)])
	if err != nil { // not begun, or whatever it says is not a time
		classes, err := r.Cloud.StorageClasses(ctx)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(classes, func(c storagev1.StorageClass) bool { return c.Name == class }) {
			return false, failed("DVP has no such storage class")
		}
		return false, r.noteMigration(ctx, dm, name, r.Clock.Now().UTC().Format(time.RFC3339))
	}
	if asked == nil || *asked != class {
		return false, r.Cloud.MoveDisk(ctx, disk, class)
	}
	state := disk.Status.MigrationState
	switch {
	case state != nil && state.Result == v1alpha2.MigrationFailed && state.EndTimestamp != nil && !state.EndTimestamp.Time.Before(started):
		return false, failed("%s", state.Message)
	case r.Clock.Now().Sub(started) > migrationBound:
		return false, failed("it is not there after %s", migrationBound)
	}
	return false, nil
}

// noteMigration writes since when a disk is being moved, or that it is not any more.
func (r machines) noteMigration(ctx context.Context, dm *v1alpha1.DeckhouseMachine, disk, since string) error {
	key := migrationKey(disk)
	if dm.Annotations[key] == since {
		return nil
	}
	before, status := dm.DeepCopy(), dm.Status
	if since == "" {
		delete(dm.Annotations, key)
	} else {
		metav1.SetMetaDataAnnotation(&dm.ObjectMeta, key, since)
	}
	if err := r.Patch(ctx, dm, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("note the move of %s: %w", disk, err)
	}
	dm.Status = status // which the answer brought back as it was
	return nil
}

// migrationKey is the annotation of a disk; a name that is too long for it is hashed.
func migrationKey(disk string) string {
	key := v1alpha1.NoteMigrationStarted + disk
	if len(validation.IsQualifiedName(key)) > 0 {
		return v1alpha1.NoteMigrationStarted + shortHash(disk)
	}
	return key
}
