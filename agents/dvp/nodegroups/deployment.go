package nodegroups

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
)

// How long a machine on its way out may take for each of: moving its pods, unplugging its volumes,
// losing its Node. Quick is for groups whose pods need not be asked long.
const (
	patience = int64(600)
	quick    = int64(300)
)

// The bounds that the autoscaler of Cluster API keeps to.
const (
	noteMin = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
	noteMax = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
)

// deployment is a MachineDeployment as wanted, written over the one that is there. The number of
// machines is kept as it is between the group's bounds.
func (g *group) deployment(o *unstructured.Unstructured, zone, template, sum string, s *settings) error {
	cloud := g.Spec.CloudInstances
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelGroup], labels[labelCluster] = g.name, s.clusterName
	o.SetLabels(labels)
	notes := o.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[noteMin], notes[noteMax], notes[checksumNote] = strconv.FormatInt(cloud.MinPerZone, 10), strconv.FormatInt(cloud.MaxPerZone, 10), sum
	o.SetAnnotations(notes)

	replicas, found, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if err != nil {
		return err
	}
	if !found {
		replicas = cloud.MinPerZone
	}
	replicas = min(max(replicas, cloud.MinPerZone), cloud.MaxPerZone)
	drain := patience
	if cloud.QuickShutdown {
		drain = quick
	}
	mine := map[string]any{labelGroup: g.name, labelCluster: s.clusterName, "cluster.x-k8s.io/deployment-name": o.GetName()}
	machine := map[string]any{
		"clusterName": s.clusterName,
		"bootstrap":   map[string]any{"dataSecretName": bootstrapName(g.name)},
		"infrastructureRef": map[string]any{
			"apiGroup": v1alpha1.GroupVersion.Group, "kind": "DeckhouseMachineTemplate", "name": template,
		},
		"deletion": map[string]any{"nodeDrainTimeoutSeconds": drain, "nodeVolumeDetachTimeoutSeconds": patience, "nodeDeletionTimeoutSeconds": patience},
	}
	if zone != noZone {
		machine["failureDomain"] = zone
	}
	for _, part := range []struct {
		value any
		path  []string
	}{
		{s.clusterName, []string{"clusterName"}},
		{replicas, []string{"replicas"}},
		{map[string]any{"matchLabels": mine}, []string{"selector"}},
		{map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{
			"maxSurge": or(cloud.MaxSurgePerZone, 1), "maxUnavailable": or(cloud.MaxUnavailablePerZone, 0),
		}}, []string{"rollout", "strategy"}},
		{mine, []string{"template", "metadata", "labels"}},
		{machine, []string{"template", "spec"}},
	} {
		if err := unstructured.SetNestedField(o.Object, part.value, append([]string{"spec"}, part.path...)...); err != nil {
			return err
		}
	}
	return nil
}

func or(value *int64, otherwise int64) int64 {
	if value == nil {
		return otherwise
	}
	return *value
}
