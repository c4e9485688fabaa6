package tofuprovider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"commander/agents/dvp/cloud"
)

// policyModel lets the cluster's machines be reached from each other, and from elsewhere only on
// some ports.
type policyModel struct {
	Name  types.String  `tfsdk:"name"`
	UUID  types.String  `tfsdk:"cluster_uuid"`
	Ports []types.Int64 `tfsdk:"ingress_ports"`
}

func newPolicy() resource.Resource {
	return &thing[*networkingv1.NetworkPolicy, policyModel, *policyModel]{kind: "NetworkPolicy", name: "network_policy", schema: schema.Schema{
		Description: "Isolates the machines of a cluster: they reach each other, and others reach some ports.",
		Attributes: map[string]schema.Attribute{
			"name":          fixed("Name in the project."),
			"cluster_uuid":  fixed("The cluster whose machines are meant."),
			"ingress_ports": schema.ListAttribute{Required: true, ElementType: types.Int64Type, Description: "TCP ports that everybody may reach."},
		},
	}}
}

func (m *policyModel) object() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: named(m.Name)}
}

func (m *policyModel) want(_ context.Context, policy *networkingv1.NetworkPolicy) {
	ours := metav1.LabelSelector{MatchLabels: map[string]string{cloud.LabelClusterUUID: m.UUID.ValueString()}}
	policy.Spec = networkingv1.NetworkPolicySpec{
		PodSelector: ours, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &ours}}}},
	}
	var open networkingv1.NetworkPolicyIngressRule
	for _, port := range m.Ports {
		open.Ports = append(open.Ports, networkingv1.NetworkPolicyPort{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(int32(port.ValueInt64())))}) //nolint:gosec // the API refuses what is no port
	}
	if len(open.Ports) > 0 { // a rule without ports would open all of them
		policy.Spec.Ingress = append(policy.Spec.Ingress, open)
	}
}

func (m *policyModel) has(policy *networkingv1.NetworkPolicy) {
	m.Ports = []types.Int64{}
	for _, rule := range policy.Spec.Ingress {
		for _, port := range rule.Ports {
			if port.Port != nil {
				m.Ports = append(m.Ports, types.Int64Value(int64(port.Port.IntValue())))
			}
		}
	}
}

func (m *policyModel) ready(context.Context, *cloud.Cloud, *networkingv1.NetworkPolicy) error {
	return nil
}
