package emulator

import (
	"context"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// services gives Services their endpoints, and those of type LoadBalancer an address.
type services struct{ *world }

func (r services) setup(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(&corev1.Service{}).Owns(&discoveryv1.EndpointSlice{}).
		Watches(&corev1.Pod{}, whichever(r.world, &corev1.ServiceList{}, func(_ client.Object, s *corev1.Service) bool { return len(s.Spec.Selector) > 0 })).
		Named("service").Complete(r)
}

func (r services) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	service := new(corev1.Service)
	if err := r.Get(ctx, req.NamespacedName, service); err != nil || !service.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if len(service.Spec.Selector) > 0 {
		if err := r.endpoints(ctx, service); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := service.DeepCopy()
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer {
		service.Status.LoadBalancer = corev1.LoadBalancerStatus{}
		return ctrl.Result{}, r.write(ctx, before, service)
	}
	if len(service.Status.LoadBalancer.Ingress) > 0 {
		return ctrl.Result{}, nil
	}
	address, err := r.free(ctx, service.Spec.LoadBalancerIP)
	if err != nil || address == "" {
		return ctrl.Result{}, err
	}
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address}}
	return ctrl.Result{}, r.write(ctx, before, service)
}

// free finds an address that no Service has: the wanted one if it is given and free. It asks the
// API itself, and one Service at a time is looked at, so no two get the same.
func (r services) free(ctx context.Context, wanted string) (string, error) {
	var all corev1.ServiceList
	if err := r.live.List(ctx, &all); err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, s := range all.Items {
		for _, ingress := range s.Status.LoadBalancer.Ingress {
			taken[ingress.IP] = true
		}
	}
	if address, err := netip.ParseAddr(wanted); err == nil {
		if r.BalancerRange.Contains(address) && !taken[wanted] {
			return wanted, nil
		}
		return "", nil
	}
	for address := r.BalancerRange.Masked().Addr().Next(); r.BalancerRange.Contains(address.Next()); address = address.Next() {
		if !taken[address.String()] {
			return address.String(), nil
		}
	}
	return "", nil
}

// endpoints lists the machines that a Service selects: running pods by their labels.
func (r services) endpoints(ctx context.Context, service *corev1.Service) error {
	var pods corev1.PodList
	err := r.List(ctx, &pods, client.InNamespace(service.Namespace), client.HasLabels{v1alpha2.LabelLauncher},
		client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(service.Spec.Selector)})
	if err != nil {
		return err
	}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Name: service.Name + "-emulator"}}
	_, err = controllerutil.CreateOrUpdate(ctx, r, slice, func() error {
		slice.AddressType = discoveryv1.AddressTypeIPv4
		slice.Labels = map[string]string{discoveryv1.LabelServiceName: service.Name, discoveryv1.LabelManagedBy: "dvp-emulator"}
		slice.Endpoints, slice.Ports = nil, nil
		for i := range service.Spec.Ports {
			port := &service.Spec.Ports[i]
			number := port.TargetPort.IntVal
			if port.TargetPort.Type == intstr.String || number == 0 {
				number = port.Port // a machine's ports have no names
			}
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &port.Name, Protocol: &port.Protocol, Port: &number})
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
				continue
			}
			ready := pod.DeletionTimestamp.IsZero()
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{pod.Status.PodIP}, NodeName: &pod.Spec.NodeName, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
				TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			})
		}
		slices.SortFunc(slice.Endpoints, func(a, b discoveryv1.Endpoint) int { return slices.Compare(a.Addresses, b.Addresses) })
		return controllerutil.SetControllerReference(service, slice, r.Scheme())
	})
	return err
}
