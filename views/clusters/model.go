// Package clusters shows clusters: their list, their forms, and each one from several sides.
package clusters

import (
	"time"

	"commander/views/i18n"
	"commander/views/tasks"
	"commander/views/ui"
)

// LastTask is the newest task of a cluster, as its row shows it.
type LastTask struct {
	ID      string
	Kind    i18n.Message
	Status  ui.Status
	At      time.Time // when it ended, or started when it runs
	Running bool
	Bad     bool // shown as a chip rather than as a time
}

// Row is a cluster in the list.
type Row struct {
	ID, Name      string
	Template      string // muted beside the name
	Status        ui.Status
	Configuration ui.Status
	Agent         ui.Agent
	Version       string // of Kubernetes; "1.36 → 1.37" while it changes
	Nodes         int
	NodesKnown    bool
	Task          *LastTask
	Labels        []Label
	Locked        bool // protected from deletion
	CanPick       bool // for what is done to several clusters at once
	Picked        bool
}

// ArchiveRow is a cluster in the archive.
type ArchiveRow struct {
	ID, Name   string
	Number     int
	Template   string
	Cleaned    bool // its machines were removed
	ArchivedAt time.Time
	ArchivedBy string
}

// ArchiveList is the page of a workspace's archive.
type ArchiveList struct {
	Slug  string
	Any   bool
	Table ui.Table
	Rows  []ArchiveRow
}

// TemplateCard is a template a cluster can be made from.
type TemplateCard struct {
	ID, Name, Comment string
	Version           int
	Parameters        int
}

// Templates is the page that starts a new cluster.
type Templates struct {
	Slug  string
	Cards []TemplateCard
}

// Head is what all pages of one cluster begin with.
type Head struct {
	ID, Name      string
	Slug          string
	Status        ui.Status
	Configuration ui.Status
	Agent         ui.Agent
	Locked        bool   // protected from deletion
	Tab           string // one of the Tab constants
	Next          *Next
	Can           Can
}

// The tabs of a cluster.
const (
	TabOverview      = "overview"
	TabConfiguration = "configuration"
	TabKubernetes    = "kubernetes"
	TabTasks         = "tasks"
	TabHistory       = "history"
	TabSettings      = "settings"
	TabNone          = ""
)

// Can is what the person may do with the cluster in its present state.
type Can struct {
	Edit, Converge, Connect, Delete, Archive, Detach bool
	// Destroy is to delete the machines as well: not those of an attached cluster.
	Destroy bool
	// Mark is to change labels and the protection from deletion.
	Mark bool
}

// Next is the one obvious thing to do with a cluster now.
type Next struct {
	Tone  ui.Tone
	Text  i18n.Message // why
	Label i18n.Message // the button's verb; empty for a mere remark
	Href  string
	Post  bool // the button posts to Href instead of leading there
}

// Facts are what is known about a cluster.
type Facts struct {
	Template         string
	TemplateVersion  int
	Kubernetes       string // what the agent saw; empty when unknown
	KubernetesWanted string
	AgentVersion     string
	CreatedAt        time.Time
	CreatedBy        string
	CheckedAt        time.Time // zero: never
	CheckDue         time.Time // of a check that is late; zero while it is not
	ReportedAt       time.Time // zero: never
	Revision         int
	PublicKey        string // for SSH; empty when no machine is reached by it
}

// Totals are sums over a cluster's nodes. They are unknown until an agent reported.
type Totals struct {
	Known       bool
	CPU         float64 // cores
	MemoryGiB   float64
	RootDiskGiB float64
	PVCGiB      float64
	Nodes       int
}

// Node is a machine of a cluster.
type Node struct {
	Name, Group string
	Status      ui.Status
	Version     string
	CPU         float64 // cores
	MemoryGiB   float64
	CreatedAt   time.Time
}

// RenderError is a reason why a cluster's configuration cannot be made.
type RenderError struct {
	Section   i18n.Message // the part of the configuration, or the parameter's title
	Text      i18n.Message
	Parameter bool // the value of a parameter is the reason
}

// Overview is a cluster's first tab. Its live parts are Summary and the head's chips.
type Overview struct {
	Head
	Facts        Facts
	Totals       Totals
	Nodes        []Node
	MoreNodes    int // that are not among them
	Tasks        []tasks.Row
	RenderErrors []RenderError
	Labels       Labels
	Drift        *Drift // nil when nothing differs
}

// Labels are what people find a cluster by, and the form that changes them.
type Labels struct {
	Saved   []Label
	Typed   string // key=value, apart by spaces
	Problem i18n.Message
}

// Drift is in what the desired, the applied and the actual configuration differ.
type Drift struct {
	// Desired and Applied are revisions; they differ while a change is not applied yet. Applied is
	// zero when nothing was ever applied.
	Desired, Applied int
	// Status and Found are what the last check said of the cluster itself, and FoundAt when; the
	// time is zero when it found nothing.
	Status  ui.Status
	Found   []i18n.Message
	FoundAt time.Time
}

// Object is a Kubernetes object the agent applies.
type Object struct {
	Group           string // resource group of the template
	Kind, Namespace string
	Name            string
	Status          ui.Status
	Error           string
}

// Kubernetes is the tab of what the agent applies.
type Kubernetes struct {
	Head
	All       int    // objects, shown or not
	State     string // of all of them: another one means that something has changed
	Table     ui.Table
	Objects   []Object
	CheckedAt time.Time // of the agent's report; zero: never
	Failed    int
	Groups    []KeptGroup
}

// KeptGroup is a Kubernetes group and how its objects are kept.
type KeptGroup struct {
	Name       string
	Controlled bool // as declared; otherwise made once and left alone
	ByTemplate bool // what the template says
	CanChange  bool
}

// The fields of a choice.
const (
	FieldGroup      = "group"
	FieldControlled = "controlled"
)

// Tasks is the tab of a cluster's tasks.
type Tasks struct {
	Head
	Any    bool // there is a task, shown or not
	Table  ui.Table
	Rows   []tasks.Row
	Newest string // id of the newest task, shown or not
}

// Deletion is the page that asks before a cluster is deleted.
type Deletion struct {
	Head
	Nodes    int
	Revision string
	Typed    string
	Problem  i18n.Message
	// ArchiveTyped and ArchiveProblem are of the other form, which cleans nothing up.
	ArchiveTyped   string
	ArchiveProblem i18n.Message
}

// title asks what the page can do: a cluster that was attached has machines that are not Commander's to delete.
func (d Deletion) title() string {
	if d.Can.Destroy || d.Locked {
		return "deletion.title"
	}
	return "deletion.archive_title"
}

// archiving heads the form that cleans nothing up.
func (d Deletion) archiving() string {
	if d.Can.Destroy {
		return "deletion.archive"
	}
	return "deletion.archive_only"
}

// FieldArchived is the name of the field that takes the cluster's name before it is archived by hand.
const FieldArchived = "archived_name"

// FieldTyped is the name of the field that takes the cluster's name on the deletion page.
const FieldTyped = "name"

// Kubeconfig is the page about access with kubectl.
type Kubeconfig struct {
	Head
	File       string // name of the downloaded file
	Server     string // full address of the API server behind Commander
	Kubernetes string // version a kubectl should match
	Hours      int    // how long the token of a fresh file lives
	Full       bool   // the person acts as cluster-admin, otherwise as view
}

// Archived is the page of a cluster that is no longer managed.
type Archived struct {
	ID, Name   string
	Slug       string
	Number     int
	Cleaned    bool
	ArchivedAt time.Time
	ArchivedBy string
	Facts      Facts
	Left       []string // what was left behind, by name
	Sections   []Section
	Tasks      []tasks.Row
}
