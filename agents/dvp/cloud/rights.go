package cloud

import (
	"context"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/rights"
)

// Needed are the rights in DVP that the provider's programs have together, as docs/dvp.md lists them.
// Those on ServiceWithHealthchecks are left out: not every DVP has them.
func Needed(namespace string) []rights.Right {
	group := v1alpha2.GroupVersion.Group
	all := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	needed := []rights.Right{
		{Namespace: namespace, Resource: "secrets", Verbs: all},
		{Namespace: namespace, Resource: "services", Verbs: all},
		{Namespace: namespace, Group: "networking.k8s.io", Resource: "networkpolicies", Verbs: all},
		{Namespace: namespace, Group: group, Resource: "virtualimages", Verbs: []string{"get"}},
		{Group: group, Resource: "virtualmachineclasses", Verbs: []string{"get"}},
		{Group: group, Resource: "clustervirtualimages", Verbs: []string{"get"}},
		{Group: "storage.k8s.io", Resource: "storageclasses", Verbs: []string{"list"}},
	}
	for _, resource := range []string{"virtualmachines", "virtualdisks", "virtualmachineblockdeviceattachments", "virtualmachineipaddresses", "virtualmachineoperations"} {
		needed = append(needed, rights.Right{Namespace: namespace, Group: group, Resource: resource, Verbs: all})
	}
	return needed
}

// CheckRights says which rights the credentials lack in DVP.
func (c Credentials) CheckRights(ctx context.Context) error {
	config, err := ParseKubeconfig(c.Kubeconfig)
	if err != nil {
		return err
	}
	return rights.Check(ctx, config, "in DVP", Needed(c.Namespace))
}
