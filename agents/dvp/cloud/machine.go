package cloud

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// Machine reads a machine by its own name, which is what a provider id holds.
func (c *Cloud) Machine(ctx context.Context, name string) (*v1alpha2.VirtualMachine, error) {
	machine := &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.read(ctx, machine); err != nil {
		return nil, err
	}
	return machine, nil
}

// MachineOfNode finds the machine that is the Node of a name; machines made by OpenTofu have names
// of their own. While a machine is being replaced there are two: the newest that is not being
// deleted is meant.
func (c *Cloud) MachineOfNode(ctx context.Context, node string) (*v1alpha2.VirtualMachine, error) {
	doing := fmt.Sprintf("find VirtualMachine of node %q", node)
	var found v1alpha2.VirtualMachineList
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	err := c.list(ctx, &found, client.InNamespace(c.namespace), client.MatchingLabels{LabelHostname: node, LabelClusterUUID: c.cluster})
	if err != nil {
		return nil, judge(err, doing, "virtualmachines", node)
	}
	if len(found.Items) == 0 {
		return nil, failf(NotFound, doing, "no machine has the label %s=%s", LabelHostname, node)
	}
	return new(slices.MaxFunc(found.Items, older)), nil
}

// older orders machines by how much they are meant: those being deleted first, then by age.
func older(a, b v1alpha2.VirtualMachine) int {
	if a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() {
		if a.DeletionTimestamp.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// Machines lists the machines of this cluster.
func (c *Cloud) Machines(ctx context.Context) ([]v1alpha2.VirtualMachine, error) {
	var all v1alpha2.VirtualMachineList
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	if err := c.list(ctx, &all, client.InNamespace(c.namespace), client.MatchingLabels{LabelClusterUUID: c.cluster}); err != nil {
		return nil, judge(err, "list VirtualMachines", "virtualmachines", "")
	}
	return all.Items, nil
}

// LabelMachine gives a machine a label, or takes it away if the value is empty. DVP hands labels of
// a machine to its running pod, so that Services of DVP can select it.
func (c *Cloud) LabelMachine(ctx context.Context, name, key, value string) error {
	patch := map[string]any{key: nil}
	if value != "" {
		patch[key] = value
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": patch}})
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	machine := &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}
	return c.call(ctx, "label", machine, func(ctx context.Context) error {
		return c.client.Patch(ctx, machine, client.RawPatch(types.MergePatchType, text))
	})
}
