// Package nodegroups orders machines for NodeGroups of type CloudEphemeral from Cluster API: a
// MachineDeployment for each group and zone, with a DeckhouseMachineTemplate made of the group's
// DVPInstanceClass. How many there are between a group's bounds is up to an autoscaler.
//
// NodeGroups belong to the node manager, which is another part: they are read as they are, without
// its types.
package nodegroups
