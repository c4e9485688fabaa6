// Package ccm is the provider "dvp" for the cloud controllers of Kubernetes: it tells them which
// machine a Node is, and makes load balancers in DVP.
//
// The controllers delete a Node whose machine does not exist. They are told so only when DVP said
// of this very machine that it does not exist, and said it again.
package ccm
