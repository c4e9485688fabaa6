// Package workspaces shows the start page: the workspaces a person may see.
package workspaces

import "commander/views/i18n"

// Row is a workspace on the start page.
type Row struct {
	Slug, Name string
	Role       i18n.Message // role.full or role.read
	Clusters   int
	Attention  int
	Running    int // tasks queued or running
}

// Start is the start page.
type Start struct {
	Rows []Row
}
