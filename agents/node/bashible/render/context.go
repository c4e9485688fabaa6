package render

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	v1 "commander/agents/node/api/v1"
	"commander/agents/node/bashible/input"
)

// tokenPath is where a machine that is no node yet keeps the token by which it becomes one.
const tokenPath = "/var/lib/bashible/bootstrap-token"

// contextOf is what the templates of a group see. It is made of JSON values only, so that equal
// inputs give equal text. Tokens that expire are not in it: a new one must not update nodes.
func contextOf(in Input, group input.Group, from fs.FS) (map[string]any, error) {
	c := in.Cluster
	cri, _ := group["cri"].(map[string]any)
	context := map[string]any{
		"runType": "Normal", "nodeGroup": group, "cri": cri["type"],
		"kubernetesVersion": first(group["kubernetesVersion"], c.KubernetesVersion),
		"clusterUUID":       c.UUID, "nodeStatusUpdateFrequency": c.NodeStatusUpdateFrequency,
		"podSubnetNodeCIDRPrefix": c.PodSubnetNodeCIDRPrefix,
		"cloudProvider":           c.CloudProvider, "cloudProviderType": in.provider(), "proxy": c.Proxy,
		"normal": map[string]any{
			"bootstrapTokenPath": tokenPath, "clusterDomain": c.Domain, "clusterDNSAddress": c.DNSAddress,
			"apiserverEndpoints": sorted(c.APIServerEndpoints), "kubernetesCA": c.CA,
		},
		"clusterMasterKubeAPIEndpoints":      sorted(c.APIServerEndpoints),
		"clusterMasterRPPAddresses":          sorted(c.PackagesProxy.Addresses),
		"clusterMasterRPPBootstrapAddresses": sorted(c.PackagesProxy.Addresses),
		"packagesProxy":                      map[string]any{"addresses": sorted(c.PackagesProxy.Addresses), "token": c.PackagesProxy.Token},
		"registry":                           in.Registry, "images": in.Images,
		"versionMap": in.Versions, "nodeUsers": usersOf(in.Users, group.Name()),
	}
	raw, err := json.Marshal(context)
	if err != nil {
		return nil, fmt.Errorf("make context of group %s: %w", group.Name(), err)
	}
	plain := map[string]any{}
	if err := json.Unmarshal(raw, &plain); err != nil {
		return nil, fmt.Errorf("make context of group %s: %w", group.Name(), err)
	}
	plain["Files"] = Files{from}
	return plain, nil
}

func first(given any, otherwise string) any {
	if given != nil && given != "" {
		return given
	}
	return otherwise
}

// sorted is never nil: templates count what is in a list.
func sorted(list []string) []string {
	list = append([]string{}, list...)
	slices.Sort(list)
	return list
}

// usersOf are those that a group gets, by name and spec: their status never changes a node.
func usersOf(users []v1.NodeUser, group string) []map[string]any {
	mine := []map[string]any{}
	for _, u := range users {
		if slices.Contains(u.Spec.NodeGroups, everyone) || slices.Contains(u.Spec.NodeGroups, group) {
			mine = append(mine, map[string]any{"name": u.Name, "spec": u.Spec})
		}
	}
	return mine
}

// scaling are the settings of a group that say how many nodes it has and not how they are.
var scaling = []string{"minPerZone", "maxPerZone", "maxSurgePerZone", "maxUnavailablePerZone", "zones"}

// lasting is the part of a context on which a node depends.
func lasting(context map[string]any) map[string]any {
	kept := maps.Clone(context)
	delete(kept, "Files")
	group, _ := kept["nodeGroup"].(map[string]any)
	cloud, is := group["cloudInstances"].(map[string]any)
	if !is {
		return kept
	}
	cloud, group = maps.Clone(cloud), maps.Clone(group)
	for _, key := range scaling {
		delete(cloud, key)
	}
	group["cloudInstances"], kept["nodeGroup"] = cloud, group
	return kept
}
