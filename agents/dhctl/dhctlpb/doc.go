// Package dhctlpb is the contract between Commander and its engine: the gRPC services DHCTL,
// Validation and Status. The comments in services.proto and beside each field are the protocol.
package dhctlpb

//go:generate sh generate.sh

// BusyPrefix begins the err of a result when another operation holds the cluster. Nothing
// was done then, and asking again later may succeed.
const BusyPrefix = "cluster is busy: "
