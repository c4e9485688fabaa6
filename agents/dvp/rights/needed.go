package rights

// Namespaces of the managed cluster.
const (
	machines = "d8-cloud-instance-manager"
	own      = "d8-cloud-provider-dvp"
	system   = "kube-system"
)

var (
	reading = []string{"get", "list", "watch"}
	leases  = Right{Namespace: own, Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"get", "create", "update"}}
	events  = Right{Group: "events.k8s.io", Resource: "events", Verbs: []string{"create", "patch"}}
)

// Machines are what capdvp-controller-manager needs in the managed cluster; with groups also to order
// machines for NodeGroups.
func Machines(groups bool) []Right {
	all := []Right{
		leases, events,
		{Namespace: machines, Resource: "secrets", Verbs: []string{"get"}},
		{Resource: "nodes", Verbs: []string{"list"}},
		{Namespace: system, Resource: "secrets", Name: "d8-provider-cluster-configuration", Verbs: []string{"get"}},
	}
	for _, kind := range []string{"deckhouseclusters", "deckhousemachines", "deckhousecontrolplanes"} {
		all = append(all,
			Right{Group: "infrastructure.cluster.x-k8s.io", Resource: kind, Verbs: []string{"get", "list", "watch", "update", "patch"}},
			Right{Group: "infrastructure.cluster.x-k8s.io", Resource: kind, Subresource: "status", Verbs: []string{"patch"}})
	}
	for _, kind := range []string{"clusters", "machines"} {
		all = append(all, Right{Group: "cluster.x-k8s.io", Resource: kind, Verbs: reading})
	}
	if !groups {
		return all
	}
	return append(
		all,
		Right{Group: "deckhouse.io", Resource: "nodegroups", Verbs: reading}, Right{Group: "deckhouse.io", Resource: "dvpinstanceclasses", Verbs: reading},
		Right{Group: "deckhouse.io", Resource: "dvpinstanceclasses", Subresource: "status", Verbs: []string{"patch"}},
		Right{Group: "cluster.x-k8s.io", Resource: "machinedeployments", Verbs: reading}, Right{Group: "cluster.x-k8s.io", Resource: "machinesets", Verbs: reading},
		Right{Namespace: machines, Group: "cluster.x-k8s.io", Resource: "machinedeployments", Verbs: []string{"create", "update", "delete"}},
		Right{Group: "infrastructure.cluster.x-k8s.io", Resource: "deckhousemachinetemplates", Verbs: reading},
		Right{Namespace: machines, Group: "infrastructure.cluster.x-k8s.io", Resource: "deckhousemachinetemplates", Verbs: []string{"create", "update", "delete"}},
		Right{Namespace: machines, Resource: "secrets", Verbs: []string{"create", "update", "delete"}},
		Right{Namespace: system, Resource: "secrets", Name: "d8-node-manager-cloud-provider", Verbs: []string{"get"}},
		Right{Namespace: system, Resource: "secrets", Name: "d8-cloud-provider-discovery-data", Verbs: []string{"get"}},
	)
}

// Discovery are what dvp-cloud-data-discoverer needs in the managed cluster.
func Discovery() []Right {
	return []Right{
		{Namespace: system, Resource: "secrets", Verbs: []string{"create"}},
		{Namespace: system, Resource: "secrets", Name: "d8-cloud-provider-discovery-data", Verbs: []string{"get", "update"}},
		{Namespace: system, Resource: "secrets", Name: "d8-provider-cluster-configuration", Verbs: []string{"get"}},
		{Group: "storage.k8s.io", Resource: "storageclasses", Verbs: []string{"list", "create", "update", "delete"}},
	}
}

// Nodes are what dvp-cloud-controller-manager needs in the managed cluster.
func Nodes() []Right {
	return []Right{
		{Group: "coordination.k8s.io", Resource: "leases", Namespace: system, Verbs: []string{"get", "create", "update"}},
		{Resource: "nodes", Verbs: []string{"get", "list", "watch", "update", "patch", "delete"}},
		{Resource: "nodes", Subresource: "status", Verbs: []string{"patch"}},
		{Resource: "services", Verbs: reading},
		{Resource: "services", Subresource: "status", Verbs: []string{"patch"}},
		{Resource: "services", Verbs: []string{"patch", "update"}},
		{Group: "discovery.k8s.io", Resource: "endpointslices", Verbs: []string{"list", "watch"}},
		{Namespace: own, Resource: "configmaps", Name: "dvp-cloud-controller-manager-disable-lb", Verbs: []string{"get"}},
		{Resource: "events", Verbs: []string{"create", "patch"}},
	}
}
