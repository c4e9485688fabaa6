// Package tofuprovider is the provider of OpenTofu by which nodes that are no machines of Cluster
// API come to be in DVP: masters and static nodes. The layouts in agents/dvp/layouts use it.
//
// What it makes has names that follow from what was asked for, so an apply that was killed before it
// noted an object finds it again: an object of this cluster by the same name is taken over. An object
// leaves OpenTofu's state only when DVP says twice that it does not exist.
package tofuprovider
