package config

import (
	"errors"
	"fmt"
)

// ValidateChanges says whether a cluster that was made by one configuration may be changed to
// another. While the phase that builds the base infrastructure is ahead, nothing is built and
// everything may change.
func ValidateChanges(phase, before, after string, strict bool) error {
	now, err := ParseCluster(after, strict)
	if err != nil {
		return err
	}
	if phase == "BaseInfra" || before == "" {
		return nil
	}
	old, err := ParseCluster(before, false)
	if err != nil {
		return fmt.Errorf("old configuration: %w", err)
	}
	var all []error
	fixed := func(field, a, b string) {
		if a != b {
			all = append(all, fmt.Errorf("%s: %s cannot be changed to %s in a cluster that exists", field, a, b))
		}
	}
	fixed("clusterType", old.ClusterType, now.ClusterType)
	if old.Cloud != nil && now.Cloud != nil {
		fixed("cloud.provider", old.Cloud.Provider, now.Cloud.Provider)
		fixed("cloud.prefix", old.Cloud.Prefix, now.Cloud.Prefix)
	}
	fixed("podSubnetCIDR", old.PodSubnetCIDR, now.PodSubnetCIDR)
	fixed("podSubnetNodeCIDRPrefix", old.PodSubnetNodeCIDRPrefix, now.PodSubnetNodeCIDRPrefix)
	fixed("serviceSubnetCIDR", old.ServiceSubnetCIDR, now.ServiceSubnetCIDR)
	fixed("clusterDomain", old.ClusterDomain, now.ClusterDomain)
	all = append(all, VersionChange(old.Minor(), now.Minor()))
	return errors.Join(all...)
}

// VersionChange says whether Kubernetes may go from one minor version to another: up, one at a
// time, never down.
func VersionChange(from, to int) error {
	switch {
	case to < from:
		return fmt.Errorf("kubernetesVersion: 1.%d cannot be downgraded to 1.%d", from, to)
	case to > from+1:
		return fmt.Errorf("kubernetesVersion: upgrade 1.%d to 1.%d one minor version at a time", from, to)
	}
	return nil
}
