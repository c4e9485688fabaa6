// Package csi is the CSI driver csi.dvp.deckhouse.io: volumes of a cluster are VirtualDisks of its
// project in DVP, plugged into the machines that are the cluster's nodes.
//
// The controller service works on DVP alone; the node service on its machine alone, except for one
// question at its start. Every call can be repeated: what is done already is found and not done
// again. Calls about one volume exclude each other; the second is told Aborted. There are no
// snapshots.
package csi

// Name is the driver's, as StorageClasses and CSIDriver spell it.
const Name = "csi.dvp.deckhouse.io"

// parameterClass names the StorageClass of DVP in the parameters of a StorageClass of the cluster.
const parameterClass = "dvpStorageClass"

// contextSerial is the serial number of the disk, which the controller hands to the node.
const contextSerial = "serial"
