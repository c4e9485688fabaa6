package store

import "time"

// Role is what a person or token may do: everything, or only look.
type Role string

// The roles.
const (
	RoleFull     Role = "full"
	RoleReadOnly Role = "read-only"
)

// ClusterStatus is the infrastructure status of a cluster, in the words of the API.
type ClusterStatus string

// The statuses of a cluster. Their meaning to people is told in views/i18n.
const (
	ClusterNew                    ClusterStatus = "new"
	ClusterConfigurationError     ClusterStatus = "configuration_error"
	ClusterCreating               ClusterStatus = "creating"
	ClusterCreationFailed         ClusterStatus = "creation_failed"
	ClusterInSync                 ClusterStatus = "in_sync"
	ClusterUpdating               ClusterStatus = "updating"
	ClusterSynchronizationFailure ClusterStatus = "synchronization_failure"
	ClusterPendingChanges         ClusterStatus = "pending_changes"
	ClusterDestructiveChanges     ClusterStatus = "destructive_changes"
	ClusterPendingDeletion        ClusterStatus = "pending_deletion"
	ClusterDelete                 ClusterStatus = "delete"
	ClusterDeletionFailed         ClusterStatus = "deletion_failed"
	ClusterDeleted                ClusterStatus = "deleted"
	ClusterReadyToJoin            ClusterStatus = "ready_to_join"
	ClusterJoining                ClusterStatus = "joining"
	ClusterDetaching              ClusterStatus = "detaching"
	ClusterDetached               ClusterStatus = "detached"
	ClusterUnknown                ClusterStatus = "unknown"
)

// SyncMode says whether changes that destroy nothing are applied without asking.
type SyncMode string

// The modes.
const (
	SyncAuto   SyncMode = "auto"
	SyncManual SyncMode = "manual"
)

// SyncState is what a cluster's agent last said of the resources it keeps.
type SyncState string

// The states. "No data" is not stored: it follows from the age of the report.
const (
	SyncConfigured    SyncState = "configured"
	SyncNotConfigured SyncState = "not_configured"
	SyncApplying      SyncState = "applying"
)

// TaskKind is the operation that a task carries out.
type TaskKind string

// The kinds.
const (
	TaskBootstrap TaskKind = "bootstrap"
	TaskConverge  TaskKind = "converge"
	TaskDestroy   TaskKind = "destroy"
	TaskCheck     TaskKind = "check"
	TaskAbort     TaskKind = "abort"
	TaskAttach    TaskKind = "attach"
	TaskDetach    TaskKind = "detach"
)

// TaskStatus tells where a task stands; fleet decides which may follow which.
type TaskStatus string

// The statuses of a task.
const (
	TaskQueued          TaskStatus = "queued"
	TaskRunning         TaskStatus = "running"
	TaskSucceeded       TaskStatus = "succeeded"
	TaskFailed          TaskStatus = "failed"
	TaskCancelled       TaskStatus = "cancelled"
	TaskWaitingApproval TaskStatus = "waiting_approval"
	TaskLost            TaskStatus = "lost"
	TaskLostInCritical  TaskStatus = "lost_in_critical"
)

// SwitchStatus tells where a move of many clusters stands.
type SwitchStatus string

// The statuses of a move. One that is stopping starts nothing more and waits for what runs.
const (
	SwitchRunning   SwitchStatus = "running"
	SwitchStopping  SwitchStatus = "stopping"
	SwitchFinished  SwitchStatus = "finished"
	SwitchStopped   SwitchStatus = "stopped" // at a failure
	SwitchCancelled SwitchStatus = "cancelled"
)

// SwitchState tells what became of one cluster of a move.
type SwitchState string

// The states of a cluster in a move.
const (
	SwitchWaits   SwitchState = "waiting"
	SwitchRuns    SwitchState = "running"
	SwitchDone    SwitchState = "done"
	SwitchFailed  SwitchState = "failed"  // its task did not succeed
	SwitchRefused SwitchState = "refused" // nothing was changed
	SwitchSkipped SwitchState = "skipped"
)

// Values are parameters by their key, as JSON has them.
type Values map[string]any

// Labels are what people mark clusters with, to find them again.
type Labels map[string]string

// GroupControl says which Kubernetes groups of a cluster are kept as declared, by their names; those
// that are not in it are kept as their template says.
type GroupControl map[string]bool

// Names is a list of what things are called.
type Names []string

// Actual are the documents that a check read in a cluster.
type Actual struct {
	ClusterConfiguration  string `json:"cluster_configuration"`
	ProviderConfiguration string `json:"provider_configuration"`
}

// ResourceGroup is a named template of Kubernetes manifests.
type ResourceGroup struct {
	Name string `json:"name"`
	// Controlled groups are kept as declared; others are created once and then left alone.
	Controlled bool `json:"controlled"`
	// UserManaged lets the user of a cluster change Controlled for that cluster.
	UserManaged bool   `json:"user_managed"`
	Template    string `json:"template"`
}

// ResourceGroups is the list of a template version's groups, in their order.
type ResourceGroups []ResourceGroup

// RenderedGroup is what a resource group became for one cluster.
type RenderedGroup struct {
	Name       string `json:"name"`
	Controlled bool   `json:"controlled"`
	Manifests  string `json:"manifests"`
}

// Rendered is the configuration of a cluster as its template made it; each field is normalised
// YAML, possibly of several documents.
type Rendered struct {
	ClusterConfiguration  string `json:"cluster_configuration"`
	ProviderConfiguration string `json:"provider_configuration"`
	// SSHConfiguration is how the machines are reached; nothing follows from a change of it.
	SSHConfiguration  string          `json:"ssh_configuration,omitempty"`
	InitConfiguration string          `json:"init_configuration"`
	Groups            []RenderedGroup `json:"groups"`
}

// Rendering is a configuration twice: as it is applied, and with masks in place of secrets.
type Rendering struct {
	Real  Rendered `json:"real"`
	Shown Rendered `json:"shown"`
}

// RenderError is a problem that keeps a configuration from being applied.
type RenderError struct {
	// Section is where it is: a parameter's key with Parameter set, else a section of the configuration.
	Section   string `json:"section"`
	Parameter bool   `json:"parameter,omitempty"`
	Key       string `json:"key"`
	Args      []any  `json:"args,omitempty"`
}

// RenderErrors is the list of problems of one configuration.
type RenderErrors []RenderError

// AgentNode is a node as the cluster's agent sees it.
type AgentNode struct {
	Name      string    `json:"name"`
	Group     string    `json:"group"`
	Ready     bool      `json:"ready"`
	Version   string    `json:"version"`
	CPUCores  float64   `json:"cpu_cores"`
	MemoryGiB float64   `json:"memory_gib"`
	CreatedAt time.Time `json:"created_at"`
}

// AgentNodes is the node list of a report.
type AgentNodes []AgentNode

// AgentObject is the result of applying one declared object.
type AgentObject struct {
	ResourceGroup string `json:"resource_group"`
	Group         string `json:"group"`
	Version       string `json:"version"`
	Kind          string `json:"kind"`
	Namespace     string `json:"namespace,omitempty"`
	Name          string `json:"name"`
	State         string `json:"state"`
	Error         string `json:"error,omitempty"`
}

// AgentObjects is the object list of a report.
type AgentObjects []AgentObject

// Phase is a step of a task as people see it.
type Phase struct {
	Name       string     `json:"name"`
	Status     string     `json:"status"` // one of the Phase… words
	StartedAt  *time.Time `json:"started_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
	SubPhases  []SubPhase `json:"sub_phases,omitempty"`
}

// SubPhase is a step within a phase.
type SubPhase struct {
	Name       string     `json:"name"`
	Status     string     `json:"status"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// Phases is the list of a task's phases in their order.
type Phases []Phase

// The words for where a phase stands.
const (
	PhasePending = "pending"
	PhaseRunning = "running"
	PhaseDone    = "done"
	PhaseSkipped = "skipped"
	PhaseFailed  = "failed"
)
