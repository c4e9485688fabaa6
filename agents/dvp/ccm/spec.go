package ccm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// noteCopied lists the annotations that came from the cluster's Service, so that those which it
	// has no more can be taken away among those that DVP's own parts set.
	noteCopied = "dvp.deckhouse.io/copied-annotations"
	// noteApplied is kubectl's, about the object it is on.
	noteApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// annotate copies the annotations of the cluster's Service.
func annotate(service *corev1.Service) func(metav1.Object) {
	return func(parent metav1.Object) {
		notes := maps.Clone(parent.GetAnnotations())
		if notes == nil {
			notes = map[string]string{}
		}
		for _, key := range strings.Split(notes[noteCopied], ",") {
			delete(notes, key)
		}
		delete(notes, noteCopied)
		var copied []string
		for _, key := range slices.Sorted(maps.Keys(service.Annotations)) {
			if key != noteApplied {
				notes[key] = service.Annotations[key]
				copied = append(copied, key)
			}
		}
		if len(copied) > 0 {
			notes[noteCopied] = strings.Join(copied, ",")
		}
		parent.SetAnnotations(notes)
	}
}

// changeSpec makes a spec in DVP what the cluster's Service wants. What DVP filled in stays.
func changeSpec(parent *corev1.ServiceSpec, name string, service *corev1.Service) {
	parent.Type = corev1.ServiceTypeLoadBalancer
	parent.Selector = map[string]string{selectorKey(name): selectorValue}
	parent.Ports = ports(parent.Ports, service.Spec.Ports)
	parent.ExternalTrafficPolicy = service.Spec.ExternalTrafficPolicy
	parent.ExternalIPs = service.Spec.ExternalIPs
	parent.LoadBalancerIP = service.Spec.LoadBalancerIP
	parent.LoadBalancerSourceRanges = service.Spec.LoadBalancerSourceRanges
	if service.Spec.SessionAffinity != "" {
		parent.SessionAffinity, parent.SessionAffinityConfig = service.Spec.SessionAffinity, service.Spec.SessionAffinityConfig
	}
	if parent.LoadBalancerClass == nil { // it may be set, never changed
		parent.LoadBalancerClass = service.Spec.LoadBalancerClass
	}
}

// ports lead to the ports that the cluster's nodes have opened. A port that was there keeps the one
// on DVP's own nodes.
func ports(before, wanted []corev1.ServicePort) []corev1.ServicePort {
	var after []corev1.ServicePort
	for _, port := range wanted {
		made := corev1.ServicePort{
			Name: port.Name, Protocol: port.Protocol, AppProtocol: port.AppProtocol, Port: port.Port, TargetPort: intstr.FromInt32(port.NodePort),
		}
		for _, old := range before {
			if old.Protocol == made.Protocol && old.Port == made.Port {
				made.NodePort = old.NodePort
			}
		}
		after = append(after, made)
	}
	return after
}

// checkedSpec is the spec of a load balancer with checks: that of a Service, and a check for each
// port of TCP.
func checkedSpec(name string, service *corev1.Service) (map[string]any, error) {
	var spec corev1.ServiceSpec
	changeSpec(&spec, name, service)
	all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return nil, fmt.Errorf("write load balancer %s: %w", name, err)
	}
	for _, key := range []string{"externalIPs", "loadBalancerIP", "loadBalancerSourceRanges", "sessionAffinityConfig"} {
		if _, given := all[key]; !given {
			all[key] = nil // to be taken away
		}
	}
	probes := []any{}
	for _, port := range spec.Ports {
		if port.Protocol == corev1.ProtocolTCP || port.Protocol == "" {
			probes = append(probes, map[string]any{
				"mode": "TCP", "tcp": map[string]any{"targetPort": int64(port.TargetPort.IntVal)}, "timeoutSeconds": int64(1),
			})
		}
	}
	all["healthcheck"] = map[string]any{"initialDelaySeconds": int64(10), "periodSeconds": int64(10), "probes": probes}
	return all, nil
}
