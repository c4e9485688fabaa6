package webhook

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
)

const (
	labelLength = 63 // of a value of a label, which names of machines become
	hashes      = 21 // characters that are added to a group's name
	haMasters   = 3
)

// standardTaints are the keys that the cluster's own components tolerate.
var standardTaints = []string{
	"dedicated", "dedicated.deckhouse.io", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master",
	"node.deckhouse.io/etcd-arbiter",
}

// Validator judges what the schema cannot. It reads through the API server itself, since a
// judgement from an old cache would let through what was just forbidden.
type Validator struct{ Direct client.Reader }

// ValidateCreate judges a new group.
func (v *Validator) ValidateCreate(ctx context.Context, group *v1.NodeGroup) (admission.Warnings, error) {
	return v.judge(ctx, nil, group)
}

// ValidateUpdate judges a changed group. One that is going is let go.
func (v *Validator) ValidateUpdate(ctx context.Context, old, group *v1.NodeGroup) (admission.Warnings, error) {
	if !group.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return v.judge(ctx, old, group)
}

// ValidateDelete lets every group go.
func (v *Validator) ValidateDelete(context.Context, *v1.NodeGroup) (admission.Warnings, error) {
	return nil, nil
}

func (v *Validator) judge(ctx context.Context, old, group *v1.NodeGroup) (admission.Warnings, error) {
	conf, err := readCluster(ctx, v.Direct)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var problems field.ErrorList
	for _, check := range []func(context.Context, *v1.NodeGroup, *v1.NodeGroup) (field.ErrorList, error){v.taints, v.zones, v.runtime} {
		found, err := check(ctx, old, group)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		problems = append(problems, found...)
	}
	if old == nil {
		problems = append(problems, nameLength(conf, group.Name)...)
	}
	if len(problems) > 0 {
		return nil, apierrors.NewInvalid(v1.GroupVersion.WithKind("NodeGroup").GroupKind(), group.Name, problems)
	}
	return v.warnings(ctx, conf, old, group)
}

func nameLength(conf cluster, name string) field.ErrorList {
	most := labelLength - len(conf.Cloud.Prefix) - 1 - hashes
	if conf.ClusterType != "Cloud" || len(name) <= most {
		return nil
	}
	return field.ErrorList{field.TooLong(field.NewPath("metadata", "name"), name, most)}
}

// taints that nothing of the cluster tolerates would leave the nodes without what they need.
func (v *Validator) taints(ctx context.Context, _, group *v1.NodeGroup) (field.ErrorList, error) {
	if group.Spec.NodeTemplate == nil || len(group.Spec.NodeTemplate.Taints) == 0 {
		return nil, nil
	}
	custom, err := customTolerations(ctx, v.Direct)
	if err != nil {
		return nil, err
	}
	var problems field.ErrorList
	for i, taint := range group.Spec.NodeTemplate.Taints {
		if !slices.Contains(standardTaints, taint.Key) && !slices.Contains(custom, taint.Key) {
			problems = append(problems, field.Invalid(field.NewPath("spec", "nodeTemplate", "taints").Index(i).Child("key"), taint.Key,
				"add it to customTolerationKeys of the global settings first"))
		}
	}
	return problems, nil
}

func (v *Validator) zones(ctx context.Context, _, group *v1.NodeGroup) (field.ErrorList, error) {
	if group.Spec.CloudInstances == nil || len(group.Spec.CloudInstances.Zones) == 0 {
		return nil, nil
	}
	cloud, err := readProvider(ctx, v.Direct)
	if err != nil || len(cloud.Zones) == 0 {
		return nil, err
	}
	var problems field.ErrorList
	for i, zone := range group.Spec.CloudInstances.Zones {
		if !slices.Contains(cloud.Zones, zone) {
			problems = append(problems, field.NotSupported(field.NewPath("spec", "cloudInstances", "zones").Index(i), zone, cloud.Zones))
		}
	}
	return problems, nil
}

// runtime keeps a group from a container runtime that its nodes cannot have.
func (v *Validator) runtime(ctx context.Context, old, group *v1.NodeGroup) (field.ErrorList, error) {
	changed := old != nil && runtimeOf(old) != runtimeOf(group)
	if runtimeOf(group) != "ContainerdV2" && !changed {
		return nil, nil
	}
	nodes := new(corev1.NodeList)
	if err := v.Direct.List(ctx, nodes, client.MatchingLabels{api.LabelGroup: group.Name}); err != nil {
		return nil, fmt.Errorf("list nodes of group %s: %w", group.Name, err)
	}
	path := field.NewPath("spec", "cri", "type")
	var problems field.ErrorList
	for _, node := range nodes.Items {
		if _, unsupported := node.Labels[api.LabelContainerdV2No]; unsupported && runtimeOf(group) == "ContainerdV2" {
			problems = append(problems, field.Invalid(path, runtimeOf(group), "node "+node.Name+" does not support it"))
		}
		if node.Labels[api.LabelContainerdCustom] == "custom" && changed {
			problems = append(problems, field.Invalid(path, runtimeOf(group), "node "+node.Name+" has settings of its own for the present runtime"))
		}
	}
	return problems, nil
}

func runtimeOf(group *v1.NodeGroup) string {
	if group.Spec.CRI == nil {
		return ""
	}
	return group.Spec.CRI.Type
}

// warnings tell what is allowed but may be a mistake.
func (v *Validator) warnings(ctx context.Context, conf cluster, old, group *v1.NodeGroup) (admission.Warnings, error) {
	var all admission.Warnings
	if k := group.Spec.Kubelet; k != nil && k.MaxPods != nil {
		if prefix, err := conf.PodSubnetNodeCIDRPrefix.Int64(); err == nil && prefix >= 0 && prefix <= 32 {
			if room := int64(1)<<(32-prefix) - 3; 2*int64(*k.MaxPods) > room {
				all = append(all, fmt.Sprintf("maxPods %d is much for the %d addresses of a node: while pods are replaced there may be none left", *k.MaxPods, room))
			}
		}
	}
	if old != nil && group.Name == "master" && runtimeOf(old) != runtimeOf(group) {
		slices := new(discoveryv1.EndpointSliceList)
		if err := v.Direct.List(ctx, slices, client.InNamespace("default"), client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"}); err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("list endpoints of the API server: %w", err))
		}
		servers := 0
		for _, slice := range slices.Items {
			for _, endpoint := range slice.Endpoints {
				servers += len(endpoint.Addresses)
			}
		}
		if servers < haMasters {
			all = append(all, fmt.Sprintf("the API server has %d endpoints: it will be away while the master changes its container runtime", servers))
		}
	}
	return all, nil
}
