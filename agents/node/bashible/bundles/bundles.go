// Package bundles has the templates of what runs on nodes: the steps, the functions that they
// use, and the scripts that start them.
package bundles

import "embed"

// Files are the templates, in the folders in which package render looks for them.
//
//go:embed bashible
var Files embed.FS
