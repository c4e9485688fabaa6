// Package layouts carries the ways in which OpenTofu lays out a cluster in DVP. A layout has three
// root modules: base-infrastructure, master-node and static-node; docs/dvp.md tells what goes in
// and what comes out.
package layouts

import "embed"

// Files are the layouts and the modules that they share.
//
//go:embed modules standard
var Files embed.FS
