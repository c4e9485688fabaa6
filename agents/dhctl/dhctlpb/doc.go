// Package dhctlpb is the contract between Commander and its engine: the gRPC services DHCTL,
// Validation and Status. The comments in services.proto and beside each field are the protocol.
package dhctlpb

//go:generate sh generate.sh

// BusyPrefix begins the err of a result when another operation holds the cluster. Nothing
// was done then, and asking again later may succeed.
const BusyPrefix = "cluster is busy: "

// SilentCaller is the err of a result when the operation stopped at a safe point because nothing
// was heard of its caller for half the lost limit. The state beside it is whole: an operation
// that starts from it goes on where this one stopped.
const SilentCaller = "the caller was silent for too long"
