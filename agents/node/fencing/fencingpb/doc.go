// Package fencingpb is the protocol by which a fencing agent tells others on its node who is alive.
package fencingpb

//go:generate sh generate.sh
