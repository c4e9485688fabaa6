// Package capdvp is the provider of Cluster API for DVP: it makes a VirtualMachine of each
// DeckhouseMachine, tells how that is, and takes it away with all that belongs to it.
//
// It reads the Machines and Clusters of Cluster API as they are stored, without its Go types: of
// the contract's fields it needs a handful, and the types bring all of Cluster API with them.
package capdvp
