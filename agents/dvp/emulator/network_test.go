package emulator_test

import (
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	. "commander/agents/dvp/emulator/emulatortest"
)

type VMIP = *v1alpha2.VirtualMachineIPAddress

func static(name, address string) VMIP {
	return &v1alpha2.VirtualMachineIPAddress{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha2.IPAddressSpec{Type: "Static", StaticIP: address}}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	d := Start(t)
	auto := &v1alpha2.VirtualMachineIPAddress{ObjectMeta: metav1.ObjectMeta{Name: "auto"}, Spec: v1alpha2.IPAddressSpec{Type: "Auto"}}
	d.Make(auto)
	Await(d, auto, "bound", func(a VMIP) bool { return a.Status.Phase == v1alpha2.AddressPhaseBound })
	address := netip.MustParseAddr(auto.Status.Address)
	if !netip.MustParsePrefix("10.66.0.0/16").Contains(address) || auto.Status.Address == "10.66.0.0" {
		t.Errorf("got address %s, want one of the range", address)
	}
	refused(t, d, "out of range", static("far", "10.1.2.3"), "not in the ranges")
	refused(t, d, "a broadcast", static("broadcast", "10.66.255.255"), "not in the ranges")
	refused(t, d, "leased", static("taken", address.String()), "is leased to")
	held := &v1alpha2.VirtualMachineIPAddressLease{ObjectMeta: metav1.ObjectMeta{Name: "ip-" + strings.ReplaceAll(address.String(), ".", "-")}}
	if err := d.Delete(t.Context(), auto); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(auto)
	Await(d, held, "kept for a while", func(l *v1alpha2.VirtualMachineIPAddressLease) bool { return l.Status.Phase == v1alpha2.LeaseReleased })
	d.AwaitGone(held)
}

func TestNamedAddress(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Make(d.Disk("a", Immediate, "1Gi"))
	vm := d.Machine("a", "a")
	vm.Spec.VirtualMachineIPAddressName = "mine"
	d.Make(vm)
	Await(d, vm, "waiting for its address", func(vm VM) bool {
		return vm.Status.Phase == v1alpha2.MachinePending && strings.HasPrefix(reason(vm.Status.Conditions, v1alpha2.VMIPAddressReady), "False")
	})
	mine := static("mine", "10.66.200.1")
	d.Make(mine)
	AwaitPhase(d, vm, v1alpha2.MachineRunning)
	if vm.Status.IPAddress != "10.66.200.1" {
		t.Errorf("got address %s, want its own", vm.Status.IPAddress)
	}
	Await(d, mine, "attached", func(a VMIP) bool {
		return a.Status.Phase == v1alpha2.AddressPhaseAttached && a.Status.VirtualMachineName == "a"
	})
	other := d.Machine("b", "b")
	other.Spec.VirtualMachineIPAddressName = "mine"
	refused(t, d, "another's address", other, "belongs to machine")
	if err := d.Delete(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	Await(d, vm, "running on", func(vm VM) bool { return vm.Status.Phase == v1alpha2.MachineRunning })
	if err := d.Get(t.Context(), client.ObjectKeyFromObject(mine), mine); err != nil || mine.DeletionTimestamp.IsZero() {
		t.Errorf("got %v, want it to wait while a machine has it", err)
	}
	if err := d.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(mine)
}

func TestServicesFollowLabels(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Run("a")
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "lb"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"role": "front"}, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	d.Make(service)
	Await(d, service, "an address", func(s *corev1.Service) bool { return len(s.Status.LoadBalancer.Ingress) == 1 })
	if got := service.Status.LoadBalancer.Ingress[0].IP; !strings.HasPrefix(got, "10.67.0.") {
		t.Errorf("got ingress %s, want one of the range", got)
	}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "lb-emulator"}}
	endpoints := func(want ...string) {
		t.Helper()
		Await(d, slice, "endpoints "+strings.Join(want, " "), func(s *discoveryv1.EndpointSlice) bool {
			var got []string
			for _, e := range s.Endpoints {
				got = append(got, e.Addresses...)
			}
			return strings.Join(got, " ") == strings.Join(want, " ")
		})
	}
	endpoints()
	d.Change(vm, func(o client.Object) { o.SetLabels(map[string]string{"role": "front"}) })
	endpoints(vm.Status.IPAddress)
	d.Change(vm, func(o client.Object) { o.SetLabels(nil) })
	endpoints()
}
