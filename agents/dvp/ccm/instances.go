package ccm

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// machineName reads the name of a machine from a provider id.
func machineName(id string) (string, error) {
	name, ok := strings.CutPrefix(id, Name+"://")
	if !ok || name == "" {
		return "", fmt.Errorf("provider id %q is not of the form %s://machine", id, Name)
	}
	return name, nil
}

// machine finds the machine of a Node: by its provider id, and by the Node's name as long as it has none.
func (p *Provider) machine(ctx context.Context, node *corev1.Node) (*v1alpha2.VirtualMachine, error) {
	if node.Spec.ProviderID == "" {
		return p.Cloud.MachineOfNode(ctx, node.Name)
	}
	name, err := machineName(node.Spec.ProviderID)
	if err != nil {
		return nil, err
	}
	return p.Cloud.Machine(ctx, name)
}

// InstanceExists is false if DVP said twice that there is no such machine.
func (p *Provider) InstanceExists(ctx context.Context, node *corev1.Node) (bool, error) {
	gone, err := cloud.Gone(ctx, func(ctx context.Context) error {
		_, err := p.machine(ctx, node)
		return err
	})
	return !gone && err == nil, err
}

// InstanceShutdown is true for a stopped machine.
func (p *Provider) InstanceShutdown(ctx context.Context, node *corev1.Node) (bool, error) {
	machine, err := p.machine(ctx, node)
	return err == nil && machine.Status.Phase == v1alpha2.MachineStopped, err
}

// InstanceMetadata tells what a Node is to know of its machine. A machine without an address is an
// error, so that the Node stays closed until it has one.
func (p *Provider) InstanceMetadata(ctx context.Context, node *corev1.Node) (*cloudprovider.InstanceMetadata, error) {
	machine, err := p.machine(ctx, node)
	if cloud.Is(err, cloud.NotFound) {
		return nil, fmt.Errorf("%w: %w", cloudprovider.InstanceNotFound, err)
	} else if err != nil {
		return nil, err
	}
	address := machine.Status.IPAddress
	if address == "" {
		return nil, fmt.Errorf("machine %q has no address yet", machine.Name)
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID: Name + "://" + machine.Name,
		NodeAddresses: []corev1.NodeAddress{
			{Type: corev1.NodeExternalIP, Address: address},
			{Type: corev1.NodeInternalIP, Address: address},
			{Type: corev1.NodeHostName, Address: cmp.Or(machine.Labels[cloud.LabelHostname], node.Name)},
		},
		// Where the machine must run, if that was chosen.
		Zone: machine.Spec.NodeSelector[corev1.LabelTopologyZone], Region: machine.Spec.NodeSelector[corev1.LabelTopologyRegion],
	}, nil
}
