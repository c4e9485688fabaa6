// Package layout is what stands around a page: the shell of a signed-in person, and the bare
// frame of sign-in and error pages.
package layout

import "commander/views/i18n"

// Assets are the addresses of the base bundle.
type Assets struct {
	Style, Script, Icon string
}

// Look is how a person wants pages; empty values follow the browser.
type Look struct {
	Theme   string // "light", "dark" or empty
	Density string // "compact" or empty
}

// Frame is what every page has.
type Frame struct {
	Title i18n.Message
	Assets
	Look
}

// Person is who is signed in.
type Person struct {
	Name  string
	Email string
}

// Workspace is an entry of the workspace switcher.
type Workspace struct {
	Slug, Name string
	Current    bool
}

// Section is an entry of the sidebar.
type Section string

// The entries of the sidebar.
const (
	SectionClusters   Section = "clusters"
	SectionTasks      Section = "tasks"
	SectionArchive    Section = "archive"
	SectionTemplates  Section = "templates"
	SectionInventory  Section = "inventory"
	SectionRegistries Section = "registries"
	SectionTokens     Section = "tokens"
	SectionWorkspace  Section = "workspace"
	SectionSettings   Section = "settings"
	SectionStart      Section = "start"
)

// Counts stand beside the entries of the sidebar.
type Counts struct {
	Clusters  int
	Attention int // clusters and tasks that need a person
	Tasks     int // queued and running
	Archive   int
}

// Shell is the page of a signed-in person.
type Shell struct {
	Frame
	Person     Person
	Slug       string // current workspace, empty outside of one
	Workspaces []Workspace
	Section    Section
	Counts     Counts
	CanTokens  bool   // may see the workspace's API tokens
	Path       string // this page's own address, where a change of look leads back to
	// Live is the address of the page's socket (paths.Live), empty for a page without updates.
	Live string
}

// Failure is an error page: what happened, what was not done, and what to do.
type Failure struct {
	Status    int    // HTTP status
	Kind      string // a kind of fault: invalid, not_found, conflict, forbidden, unauthenticated, unavailable, internal
	Message   i18n.Message
	RequestID string
	Back      string // where a person goes from here; empty means the start page
}
