package emulator

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// disks provides VirtualDisks, each from a claim for a volume, and plays the claims' provisioner.
type disks struct{ *world }

func (r disks) setup(m ctrl.Manager) error {
	list := &v1alpha2.VirtualDiskList{}
	type vd = *v1alpha2.VirtualDisk
	from := func(kind string) func(client.Object, vd) bool {
		return func(o client.Object, d vd) bool {
			s := d.Spec.DataSource
			return s != nil && s.ObjectRef != nil && s.ObjectRef.Kind == kind && s.ObjectRef.Name == o.GetName()
		}
	}
	waits := func(_ client.Object, d vd) bool { return d.Status.Phase != v1alpha2.DiskPhaseReady }
	return ctrl.NewControllerManagedBy(m).For(&v1alpha2.VirtualDisk{}).Owns(&corev1.PersistentVolumeClaim{}).
		Watches(&v1alpha2.VirtualMachine{}, whichever(r.world, list, func(o client.Object, d vd) bool { return has(o.(*v1alpha2.VirtualMachine), d.Name) })).
		Watches(&attachment{}, whichever(r.world, list, func(o client.Object, d vd) bool { return o.(*attachment).Spec.BlockDeviceRef.Name == d.Name })).
		Watches(&v1alpha2.VirtualImage{}, whichever(r.world, list, from(v1alpha2.KindVirtualImage))).
		Watches(&v1alpha2.ClusterVirtualImage{}, whichever(r.world, list, from(v1alpha2.KindClusterVirtualImage))).
		Watches(&corev1.ResourceQuota{}, whichever(r.world, list, waits)).
		Watches(&storagev1.StorageClass{}, handler.EnqueueRequestsFromMapFunc(everything(r.world, list))).
		Named("disk").Complete(r)
}

// has says whether a machine has a disk or is to have it.
func has(vm *v1alpha2.VirtualMachine, disk string) bool {
	return uses(vm, v1alpha2.KindVirtualDisk, disk) || slices.ContainsFunc(vm.Status.BlockDeviceRefs, func(ref v1alpha2.BlockDeviceStatusRef) bool {
		return ref.Kind == v1alpha2.KindVirtualDisk && ref.Name == disk
	})
}

// disk is one look at a VirtualDisk.
type disk struct {
	*world
	vd      *v1alpha2.VirtualDisk
	delay   Delays
	mounted bool
	placed  bool                          // a machine that uses it has a node, so that its volume can be made there
	left    *corev1.PersistentVolumeClaim // what a move has left behind; dropped when the status names the other
	result  ctrl.Result
}

func (r disks) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	vd := new(v1alpha2.VirtualDisk)
	if err := r.Get(ctx, req.NamespacedName, vd); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	d := &disk{world: r.world, vd: vd, delay: r.delays(ctx, vd)}
	if vd.DeletionTimestamp.IsZero() {
		if err := r.hold(ctx, vd, v1alpha2.FinalizerDisk); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := vd.DeepCopy()
	vd.Status.ObservedGeneration = vd.Generation
	if err := d.use(ctx); err != nil {
		return ctrl.Result{}, err
	}
	advance := d.provide
	if !vd.DeletionTimestamp.IsZero() {
		advance = d.terminate
	}
	if err := advance(ctx); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.write(ctx, before, vd); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if d.left != nil {
		if err := d.dropClaim(ctx, d.left); err != nil {
			return ctrl.Result{}, err
		}
	}
	return d.result, d.protect(ctx)
}

func (d *disk) set(kind string, ok bool, reason, message string) {
	set(&d.vd.Status.Conditions, d.vd, kind, ok, reason, message)
}

// state sets the phase and the condition Ready together.
func (d *disk) state(phase v1alpha2.DiskPhase, reason, message string) {
	d.vd.Status.Phase = phase
	d.set(v1alpha2.DiskReady, phase == v1alpha2.DiskPhaseReady, reason, message)
}

// use tells which machines have the disk.
func (d *disk) use(ctx context.Context) error {
	var machines v1alpha2.VirtualMachineList
	if err := d.List(ctx, &machines, client.InNamespace(d.vd.Namespace)); err != nil {
		return err
	}
	d.vd.Status.AttachedToVirtualMachines = nil
	for i := range machines.Items {
		vm := &machines.Items[i]
		if !has(vm, d.vd.Name) {
			continue
		}
		mounted := !slices.Contains([]v1alpha2.MachinePhase{"", v1alpha2.MachinePending, v1alpha2.MachineStopped}, vm.Status.Phase)
		d.mounted = d.mounted || mounted
		d.placed = d.placed || mounted
		d.vd.Status.AttachedToVirtualMachines = append(d.vd.Status.AttachedToVirtualMachines, v1alpha2.AttachedTo{Name: vm.Name, Mounted: mounted})
	}
	if !d.placed {
		asking, err := attachmentsWhere(ctx, d, d.vd.Namespace, func(a *attachment) bool {
			return a.Spec.BlockDeviceRef.Kind == v1alpha2.KindVirtualDisk && a.Spec.BlockDeviceRef.Name == d.vd.Name && a.DeletionTimestamp.IsZero()
		})
		if err != nil {
			return err
		}
		for _, a := range asking {
			i := slices.IndexFunc(machines.Items, func(vm v1alpha2.VirtualMachine) bool { return vm.Name == a.Spec.VirtualMachineName })
			d.placed = d.placed || i >= 0 && machines.Items[i].Status.NodeName != ""
		}
	}
	used := len(d.vd.Status.AttachedToVirtualMachines) > 0
	d.set(v1alpha2.DiskInUse, used, pick(used, v1alpha2.DiskAttachedToVM, v1alpha2.DiskNotInUse), "")
	return nil
}

// protect holds a disk that is mounted, once its status is written.
func (d *disk) protect(ctx context.Context) error {
	if d.mounted && d.vd.DeletionTimestamp.IsZero() {
		return d.hold(ctx, d.vd, v1alpha2.FinalizerDiskProtection)
	}
	if !d.mounted {
		return d.release(ctx, d.vd, v1alpha2.FinalizerDiskProtection)
	}
	return nil
}

// terminate removes a disk with its claims when no machine has it mounted any more.
func (d *disk) terminate(ctx context.Context) error {
	d.vd.Status.Phase = v1alpha2.DiskPhaseTerminating
	if d.mounted {
		d.set(v1alpha2.DiskTerminating, true, v1alpha2.DiskCleanupPending, "a machine has it mounted")
		return nil
	}
	if d.faulty(ctx, d.vd, FaultStuckTerminating) {
		d.result = again(time.Second)
		return nil
	}
	if left := d.timers.left(d.vd.UID, "delete", d.delay.DeleteDisk); left > 0 {
		d.result = again(left)
		return nil
	}
	var claims corev1.PersistentVolumeClaimList
	if err := d.List(ctx, &claims, client.InNamespace(d.vd.Namespace)); err != nil {
		return err
	}
	for i := range claims.Items {
		if ownedBy(&claims.Items[i], d.vd) {
			if err := d.dropClaim(ctx, &claims.Items[i]); err != nil {
				return err
			}
		}
	}
	d.timers.forget(d.vd.UID, "delete", "provision", "resize", "migrate")
	return d.release(ctx, d.vd, v1alpha2.FinalizerDisk, v1alpha2.FinalizerDiskProtection)
}

func ownedBy(o, owner client.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(ref ownerReference) bool { return ref.UID == owner.GetUID() })
}

// dropClaim deletes a claim and lifts the protection that the API put on it: its controller is one
// of those that are not there.
func (w *world) dropClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.DeletionTimestamp.IsZero() {
		if err := w.Delete(ctx, claim); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete claim %s: %w", claim.Name, err)
		}
	}
	if len(claim.Finalizers) == 0 {
		return nil
	}
	before := claim.DeepCopy()
	controllerutil.RemoveFinalizer(claim, "kubernetes.io/pvc-protection")
	return client.IgnoreNotFound(w.Patch(ctx, claim, client.MergeFrom(before)))
}
