package clusters

import "commander/views/i18n"

// Move is the page that takes a cluster to another workspace.
type Move struct {
	Head
	Workspaces []Choice // that the person may move it to
	To         string   // the chosen one's slug; empty before the choice
	ToName     string
	// Moved and Copied are labels of records, Made slugs of catalogs that are made there.
	Moved, Copied, Made []string
	Problem             i18n.Message
}
