package capdvp

import (
	"context"
	"crypto/sha1" //nolint:gosec // a name for an annotation, not a secret
	"encoding/hex"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/cloud"
)

// remove takes a machine and what belongs to it out of DVP, a step at each call, and lets go of it
// when all is gone or has been waited for long enough.
func (r machines) remove(ctx context.Context, dm *v1alpha1.DeckhouseMachine) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(dm, v1alpha1.FinalizerMachine) {
		return ctrl.Result{}, nil
	}
	before := dm.DeepCopy()
	for _, step := range []func(context.Context, *v1alpha1.DeckhouseMachine) (done bool, err error){
		r.detachAll, r.removeMachine, r.removeDisks, r.removeSecret,
	} {
		done, err := step(ctx, dm)
		if err == nil {
			err = r.note(ctx, before, dm)
		}
		if err != nil || !done {
			return ctrl.Result{RequeueAfter: r.Poll}, err
		}
	}
	controllerutil.RemoveFinalizer(dm, v1alpha1.FinalizerMachine)
	return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, dm))
}

// note writes the annotations of what was left behind.
func (r machines) note(ctx context.Context, before, dm *v1alpha1.DeckhouseMachine) error {
	if len(before.Annotations) == len(dm.Annotations) {
		return nil
	}
	err := r.Patch(ctx, dm, client.MergeFrom(before))
	before.Annotations = dm.DeepCopy().Annotations
	return err
}

// detachAll unplugs the disks that are not the machine's own: they are volumes of others, and stay.
func (r machines) detachAll(ctx context.Context, dm *v1alpha1.DeckhouseMachine) (bool, error) {
	attached, err := r.Cloud.Attachments(ctx, cloud.OfMachine(dm.Name))
	if err != nil {
		return false, err
	}
	for i := range attached {
		if r.Cloud.Owned(&attached[i]) && attached[i].DeletionTimestamp.IsZero() {
			if err := r.Cloud.Remove(ctx, &attached[i]); err != nil {
				return false, err
			}
		}
	}
	return true, nil // they go while the machine shuts down, or with it
}

// removeMachine is done when the machine is gone, twice said, or was given up.
func (r machines) removeMachine(ctx context.Context, dm *v1alpha1.DeckhouseMachine) (bool, error) {
	vm, err := r.Cloud.Machine(ctx, dm.Name)
	switch {
	case cloud.Is(err, cloud.NotFound):
		return cloud.Gone(ctx, func(ctx context.Context) error {
			_, err := r.Cloud.Machine(ctx, dm.Name)
			return err
		})
	case err != nil:
		return false, err
	case !r.Cloud.Owned(vm) || vm.Labels[cloud.LabelHostname] != dm.Name:
		return true, nil // another's of the same name
	case vm.DeletionTimestamp.IsZero():
		return false, r.Cloud.Remove(ctx, vm)
	case !r.late(vm.DeletionTimestamp):
		return false, nil
	}
	if dm.Annotations[v1alpha1.NoteOrphanedVM] != vm.Name {
		r.leave(dm, v1alpha1.NoteOrphanedVM, vm.Name)
		dm.Annotations[v1alpha1.NoteOrphanedVMTime] = r.Clock.Now().UTC().Format(time.RFC3339)
	}
	return true, nil
}

// removeDisks is done when all disks of the machine are gone, or were given up. DVP removes them
// with the machine they belong to; disks of older versions belong to none.
func (r machines) removeDisks(ctx context.Context, dm *v1alpha1.DeckhouseMachine) (bool, error) {
	disks, err := r.Cloud.Disks(ctx, dm.Name)
	if err != nil {
		return false, err
	}
	done := true
	for i := range disks {
		d := &disks[i]
		switch {
		case d.DeletionTimestamp.IsZero():
			if err := r.Cloud.Remove(ctx, d); err != nil {
				return false, err
			}
			done = false
		case r.late(d.DeletionTimestamp):
			r.leave(dm, orphanedDiskKey(d.Name), d.Name)
		default:
			done = false
		}
	}
	return done, nil
}

func orphanedDiskKey(name string) string { return v1alpha1.NoteOrphanedDisk + shortHash(name) }

// shortHash stands for a name where that may be too long.
func shortHash(name string) string {
	sum := sha1.Sum([]byte(name)) //nolint:gosec // the form that others look for
	return hex.EncodeToString(sum[:8])
}

func (r machines) removeSecret(ctx context.Context, dm *v1alpha1.DeckhouseMachine) (bool, error) {
	return true, r.Cloud.DeleteSecret(ctx, secretName(dm))
}

// late says whether a removal has been waited for long enough.
func (r machines) late(since *metav1.Time) bool { return r.Clock.Now().Sub(since.Time) > r.Patience }

// leave notes what is left behind in DVP, for who cleans up.
func (r machines) leave(dm *v1alpha1.DeckhouseMachine, key, name string) {
	if dm.Annotations == nil {
		dm.Annotations = map[string]string{}
	}
	if dm.Annotations[key] == name {
		return
	}
	dm.Annotations[key] = name
	r.Events.Eventf(dm, nil, corev1.EventTypeWarning, "LeftBehind", "Remove", "%s did not go in %s and is left behind in DVP", name, r.Patience)
}
