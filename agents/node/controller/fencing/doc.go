// Package fencing releases the pods of nodes that are lost, so that they can run elsewhere. The
// package agents/node/fencing tells the agreement with the nodes by which a pod never runs twice.
package fencing
