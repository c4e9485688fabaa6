package ccm

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// UpdateLoadBalancer makes the machines of these nodes, and no others, those of a load balancer. The
// service controller asks for it when nodes change, whatever it is doing with the Service itself at
// that time: one whose load balancer was not asked for yet has its nodes when it is, and one whose
// load balancer has been removed must get nothing any more, for nobody would take it away.
func (p *Provider) UpdateLoadBalancer(ctx context.Context, clusterName string, service *corev1.Service, nodes []*corev1.Node) error {
	record := p.found(service.UID)
	if record == nil || !service.DeletionTimestamp.IsZero() {
		return nil
	}
	return p.fill(ctx, p.GetLoadBalancerName(ctx, clusterName, service), record, service, nodes)
}

// fill makes the machines of these nodes those of a load balancer, unless that has been removed.
func (p *Provider) fill(ctx context.Context, name string, record *balanced, service *corev1.Service, nodes []*corev1.Node) error {
	if len(nodes) == 0 {
		return fmt.Errorf("load balancer %s: the cluster has no nodes for it", name)
	}
	record.mu.Lock()
	defer record.mu.Unlock()
	if record.removed {
		return nil
	}
	record.nodes = nodes
	return p.choose(ctx, name, service, nodes)
}

// choose labels machines; the record of the Service must be held.
func (p *Provider) choose(ctx context.Context, name string, service *corev1.Service, nodes []*corev1.Node) error {
	machines, err := p.Cloud.Machines(ctx)
	if err != nil {
		return err
	}
	members := membersOf(machines, nodes)
	if len(members) == 0 {
		return fmt.Errorf("load balancer %s: DVP has no machine of any of %d nodes", name, len(nodes))
	}
	if port := service.Spec.HealthCheckNodePort; service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && port != 0 {
		members = p.withPods(ctx, members, port)
	}
	return p.labelThose(ctx, name, machines, members)
}

// membersOf finds the machines of nodes, by name. A node without a machine does not keep the others out.
func membersOf(machines []v1alpha2.VirtualMachine, nodes []*corev1.Node) map[string]*v1alpha2.VirtualMachine {
	ids, names := map[string]bool{}, map[string]bool{}
	for _, node := range nodes {
		if id, err := machineName(node.Spec.ProviderID); err == nil {
			ids[id] = true
		} else if node.Spec.ProviderID == "" {
			names[node.Name] = true
		}
	}
	members := map[string]*v1alpha2.VirtualMachine{}
	for i := range machines {
		m := &machines[i]
		if m.DeletionTimestamp.IsZero() && (ids[m.Name] || names[m.Labels[cloud.LabelHostname]]) {
			members[m.Name] = m
		}
	}
	return members
}

// label is labelThose for all machines that there are.
func (p *Provider) label(ctx context.Context, name string, members map[string]*v1alpha2.VirtualMachine) error {
	machines, err := p.Cloud.Machines(ctx)
	if err != nil {
		return err
	}
	return p.labelThose(ctx, name, machines, members)
}

// labelThose gives the label of a load balancer to its members and takes it from all others. A
// machine that vanished meanwhile needs none.
func (p *Provider) labelThose(ctx context.Context, name string, machines []v1alpha2.VirtualMachine, members map[string]*v1alpha2.VirtualMachine) error {
	var problems []error
	key := selectorKey(name)
	for i := range machines {
		m, want := &machines[i], ""
		if members[m.Name] != nil {
			want = selectorValue
		}
		if has, labelled := m.Labels[key]; has == want && labelled == (want != "") {
			continue
		}
		if err := p.Cloud.LabelMachine(ctx, m.Name, key, want); err != nil && !cloud.Is(err, cloud.NotFound) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}
