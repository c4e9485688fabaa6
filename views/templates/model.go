// Package templates shows what clusters are made from: templates, their versions and their editor.
package templates

import (
	"time"

	"commander/views/ui"
)

// Row is a template in the list.
type Row struct {
	ID, Name, Comment  string
	Shipped            bool // comes with the product and is upgraded with it
	Current            int  // number of the current version, 0 without one
	Available          bool // whether clusters can be made from the current version
	Versions, Clusters int
	ChangedAt          time.Time
}

// List is the page of a workspace's templates.
type List struct {
	Slug    string
	Any     bool // whether the workspace has a template at all
	Table   ui.Table
	Rows    []Row
	CanEdit bool
}

// Tab is a part of a template's page.
type Tab string

// The tabs.
const (
	TabVersions   Tab = "versions"
	TabClusters   Tab = "clusters"
	TabComparison Tab = "comparison"
	TabNone       Tab = ""
)

// Head is what all pages of one template begin with.
type Head struct {
	Slug, ID, Name, Comment string
	Shipped, Archived       bool
	Current                 int // number of the current version, 0 without one
	Versions, Clusters      int
	CanEdit                 bool
	CanCreate               bool // clusters, from the current version
	Tab                     Tab
}

// Version is a version of a template in the list of them.
type Version struct {
	Number             int
	Comment            string
	Available, Current bool
	CreatedBy          string
	CreatedAt          time.Time
	Clusters           int
}

// Versions is the page of a template with its versions.
type Versions struct {
	Head
	Table ui.Table
	Rows  []Version
}

// Cluster is a cluster made from a template.
type Cluster struct {
	ID, Name   string
	Status     ui.Status
	Version    int // of the template
	Current    bool
	Kubernetes string
	Agent      ui.Agent
}

// Clusters is the tab of the clusters made from a template.
type Clusters struct {
	Head
	Table ui.Table
	Rows  []Cluster
}

// Names of the forms' fields.
const (
	FieldName           = "name"
	FieldComment        = "comment"
	FieldVersionComment = "version_comment"
	FieldAvailable      = "available"
	FieldRevision       = "revision"
	FieldNonce          = "nonce"
	FieldBase           = "base"
	FieldAction         = "action"
	FieldFile           = "file"
	FieldText           = "text"
)
