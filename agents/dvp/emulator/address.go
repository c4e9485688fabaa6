package emulator

import (
	"context"
	"net/netip"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

type lease = v1alpha2.VirtualMachineIPAddressLease

// addresses gives VirtualMachineIPAddresses their addresses. A lease that the API accepts is what
// makes an address taken, so no two get the same one.
type addresses struct{ *world }

func (r addresses) setup(m ctrl.Manager) error {
	list := &v1alpha2.VirtualMachineIPAddressList{}
	owner := func(_ context.Context, o client.Object) []reconcile.Request {
		if ref := o.(*lease).Spec.IPAddressRef; ref != nil {
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}}}
		}
		return nil
	}
	return ctrl.NewControllerManagedBy(m).For(&v1alpha2.VirtualMachineIPAddress{}).
		Watches(&v1alpha2.VirtualMachine{}, whichever(r.world, list, func(o client.Object, a *v1alpha2.VirtualMachineIPAddress) bool {
			vm := o.(*v1alpha2.VirtualMachine)
			return vm.Spec.VirtualMachineIPAddressName == a.Name || ownedBy(a, vm) || a.Status.VirtualMachineName == vm.Name
		})).
		Watches(&lease{}, handler.EnqueueRequestsFromMapFunc(owner)).Named("address").Complete(r)
}

func (r addresses) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	a := new(v1alpha2.VirtualMachineIPAddress)
	if err := r.Get(ctx, req.NamespacedName, a); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	user, err := r.user(ctx, a)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !a.DeletionTimestamp.IsZero() && user == "" {
		if err := r.giveBack(ctx, a); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, r.release(ctx, a, v1alpha2.FinalizerIPAddress)
	}
	if a.DeletionTimestamp.IsZero() {
		if err := r.hold(ctx, a, v1alpha2.FinalizerIPAddress); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := a.DeepCopy()
	a.Status.ObservedGeneration = a.Generation
	result, err := r.bind(ctx, a)
	if err != nil {
		return ctrl.Result{}, err
	}
	a.Status.VirtualMachineName = user
	set(&a.Status.Conditions, a, v1alpha2.AddressAttached, user != "", pick(user != "", v1alpha2.AddressAttached, v1alpha2.AddressMachineGone), "")
	if user != "" && a.Status.Phase == v1alpha2.AddressPhaseBound {
		a.Status.Phase = v1alpha2.AddressPhaseAttached
	}
	return result, r.write(ctx, before, a)
}

// user is the machine that has the address: who has it keeps it, else the first that names it.
func (r addresses) user(ctx context.Context, a *v1alpha2.VirtualMachineIPAddress) (string, error) {
	var machines v1alpha2.VirtualMachineList
	if err := r.List(ctx, &machines, client.InNamespace(a.Namespace), client.UnsafeDisableDeepCopy); err != nil { // only read
		return "", err
	}
	first := ""
	for i := range machines.Items {
		vm := &machines.Items[i]
		// While a machine that made its address is deleted, the address is deleted with it.
		wants := vm.Spec.VirtualMachineIPAddressName == a.Name || vm.Spec.VirtualMachineIPAddressName == "" && ownedBy(a, vm)
		if wants && (first == "" || vm.Name == a.Status.VirtualMachineName) {
			first = vm.Name
		}
	}
	return first, nil
}

func (r addresses) bind(ctx context.Context, a *v1alpha2.VirtualMachineIPAddress) (ctrl.Result, error) {
	if a.Status.Address != "" {
		a.Status.Phase = v1alpha2.AddressPhaseBound
		return ctrl.Result{}, nil
	}
	if a.Spec.Type == v1alpha2.AddressStatic {
		address, err := netip.ParseAddr(a.Spec.StaticIP)
		if err != nil || !r.inRange(address) {
			a.Status.Phase = v1alpha2.AddressPhasePending
			set(&a.Status.Conditions, a, v1alpha2.AddressBound, false, v1alpha2.AddressOutOfRange, "not an address for machines")
			return ctrl.Result{}, nil
		}
		took, err := r.take(ctx, a, address)
		if err == nil && !took {
			a.Status.Phase = v1alpha2.AddressPhasePending
			set(&a.Status.Conditions, a, v1alpha2.AddressBound, false, v1alpha2.AddressLeaseExists, "somebody else has it")
			return again(time.Second), nil
		}
		return ctrl.Result{}, err
	}
	var leases v1alpha2.VirtualMachineIPAddressLeaseList
	if err := r.List(ctx, &leases); err != nil {
		return ctrl.Result{}, err
	}
	taken := map[string]bool{}
	for i := range leases.Items {
		taken[leases.Items[i].Name] = !holds(&leases.Items[i], a)
	}
	for _, cidr := range r.MachineRanges {
		// The first and the last address of a network are its own and the broadcast.
		for address := cidr.Masked().Addr().Next(); cidr.Contains(address.Next()); address = address.Next() {
			if taken[leaseName(address)] {
				continue
			}
			if took, err := r.take(ctx, a, address); took || err != nil {
				return ctrl.Result{}, err
			}
		}
	}
	a.Status.Phase = v1alpha2.AddressPhasePending
	set(&a.Status.Conditions, a, v1alpha2.AddressBound, false, v1alpha2.ReasonUnknown, "all addresses are taken")
	return again(time.Second), nil
}

// take makes the lease of an address. It is false if somebody else has one.
func (r addresses) take(ctx context.Context, a *v1alpha2.VirtualMachineIPAddress, address netip.Addr) (bool, error) {
	l := &lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName(address), Finalizers: []string{v1alpha2.FinalizerLease}},
		Spec:       v1alpha2.IPAddressLeaseSpec{IPAddressRef: &v1alpha2.IPAddressRef{Namespace: a.Namespace, Name: a.Name}},
	}
	err := r.Create(ctx, l)
	if apierrors.IsAlreadyExists(err) {
		err = r.live.Get(ctx, client.ObjectKeyFromObject(l), l)
		if err != nil || !holds(l, a) || !l.DeletionTimestamp.IsZero() {
			return false, client.IgnoreNotFound(err)
		}
	} else if err != nil {
		return false, err
	}
	a.Status.Address, a.Status.Phase = address.String(), v1alpha2.AddressPhaseBound
	set(&a.Status.Conditions, a, v1alpha2.AddressBound, true, v1alpha2.AddressBound, "")
	return true, nil
}

// giveBack releases the lease, which is kept for a while.
func (r addresses) giveBack(ctx context.Context, a *v1alpha2.VirtualMachineIPAddress) error {
	address, err := netip.ParseAddr(a.Status.Address)
	if err != nil {
		return nil //nolint:nilerr // it never had one
	}
	l := new(lease)
	if err := r.live.Get(ctx, client.ObjectKey{Name: leaseName(address)}, l); err != nil || !holds(l, a) {
		return client.IgnoreNotFound(err)
	}
	l.Spec.IPAddressRef = nil
	return r.Update(ctx, l)
}

func holds(l *lease, a *v1alpha2.VirtualMachineIPAddress) bool {
	ref := l.Spec.IPAddressRef
	return ref != nil && ref.Namespace == a.Namespace && ref.Name == a.Name
}

func (w *world) inRange(address netip.Addr) bool {
	for _, cidr := range w.MachineRanges {
		if cidr.Contains(address) && address != cidr.Masked().Addr() && cidr.Contains(address.Next()) {
			return true
		}
	}
	return false
}

func leaseName(address netip.Addr) string {
	return "ip-" + strings.ReplaceAll(address.String(), ".", "-")
}

// leases ends those that nobody holds any more.
type leases struct{ *world }

func (r leases) setup(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(&lease{}).Named("lease").Complete(r)
}

func (r leases) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	l := new(lease)
	if err := r.Get(ctx, req.NamespacedName, l); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !l.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.release(ctx, l, v1alpha2.FinalizerLease)
	}
	before := l.DeepCopy()
	l.Status.ObservedGeneration = l.Generation
	bound := l.Spec.IPAddressRef != nil
	l.Status.Phase = pick(bound, v1alpha2.LeaseBound, v1alpha2.LeaseReleased)
	set(&l.Status.Conditions, l, v1alpha2.AddressBound, bound, l.Status.Phase, "")
	if err := r.write(ctx, before, l); err != nil || bound {
		r.timers.forget(l.UID, "retention")
		return ctrl.Result{}, err
	}
	if left := r.timers.left(l.UID, "retention", r.LeaseRetention); left > 0 {
		return again(left), nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(r.Delete(ctx, l, client.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion}))
}
