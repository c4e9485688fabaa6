package dhctl

// Statuses of a check, from best to worst.
const (
	InSync               = "InSync"
	OutOfSync            = "OutOfSync"
	DestructiveOutOfSync = "DestructiveOutOfSync"
)

// CheckResult is the JSON in a check's result.
type CheckResult struct {
	Status  string        `json:"status"`
	Details StatusDetails `json:"status_details"`
	// DestructiveChangeID is what a person approves; empty unless infrastructure would be destroyed.
	DestructiveChangeID string `json:"destructive_change_id"`
	// Actual are the documents in the cluster; nil when it has no API yet. They may hold secrets.
	Actual *Documents `json:"actual,omitempty"`
}

// Documents are what a cluster is made from, as they are written in it.
type Documents struct {
	Cluster  string `json:"cluster_configuration"`
	Provider string `json:"provider_configuration"`
}

// StatusDetails says which part of a cluster differs.
type StatusDetails struct {
	ConfigurationStatus  string        `json:"configuration_status"`
	InfrastructureStatus string        `json:"infrastructure_status"`
	Cluster              ClusterStatus `json:"cluster"`
	Nodes                []NodeStatus  `json:"nodes"`
}

// ClusterStatus is how the base infrastructure compares with what is wanted.
type ClusterStatus struct {
	Status string `json:"status"`
	// Reason is set when the status is "error".
	Reason string `json:"reason,omitempty"`
}

// Statuses of a converge.
const (
	ConvergeInSync       = "InSync"
	ConvergeConverged    = "Converged"
	ConvergeNeedApproval = "NeedApproveForDestructiveChange"
)

// ConvergeResult is the JSON in a converge's result.
type ConvergeResult struct {
	Status string `json:"status"`
	// CheckResult is absent when an earlier attempt did the check.
	CheckResult *CheckResult `json:"check_result,omitempty"`
}
