package v1

// ApprovalMode says who allows a node to restart what runs on it.
// +kubebuilder:validation:Enum=Manual;Automatic;RollingUpdate
type ApprovalMode string

// Ways of approval.
const (
	ApproveManual        ApprovalMode = "Manual"        // a person does
	ApproveAutomatic     ApprovalMode = "Automatic"     // the controller does
	ApproveRollingUpdate ApprovalMode = "RollingUpdate" // nobody does: the node is replaced
)

// Disruptions is how a group's nodes are allowed to restart.
//
// +kubebuilder:validation:XValidation:rule="!has(self.automatic) || self.approvalMode == 'Automatic'",message="automatic needs approvalMode Automatic"
// +kubebuilder:validation:XValidation:rule="!has(self.rollingUpdate) || self.approvalMode == 'RollingUpdate'",message="rollingUpdate needs approvalMode RollingUpdate"
type Disruptions struct {
	// +kubebuilder:default=Automatic
	ApprovalMode  ApprovalMode          `json:"approvalMode,omitempty"`
	Automatic     *AutomaticDisruption  `json:"automatic,omitempty"`
	RollingUpdate *RollingUpdateWindows `json:"rollingUpdate,omitempty"`
}

// AutomaticDisruption is when the controller approves by itself.
type AutomaticDisruption struct {
	// +kubebuilder:default=true
	DrainBeforeApproval *bool `json:"drainBeforeApproval,omitempty"`
	// Windows are the times of approval; none means always.
	// +kubebuilder:validation:MaxItems=64
	Windows []Window `json:"windows,omitempty"`
}

// RollingUpdateWindows are the times at which nodes are replaced; none means always.
type RollingUpdateWindows struct {
	// +kubebuilder:validation:MaxItems=64
	Windows []Window `json:"windows,omitempty"`
}

// Window is a time of day in UTC, both ends included. One that ends before it begins crosses
// midnight.
type Window struct {
	// +kubebuilder:validation:Pattern=`^([01]?[0-9]|2[0-3]):[0-5][0-9]$`
	From string `json:"from"`
	// +kubebuilder:validation:Pattern=`^([01]?[0-9]|2[0-3]):[0-5][0-9]$`
	To string `json:"to"`
	// Days of the week, none means all.
	// +kubebuilder:validation:MaxItems=7
	Days []Day `json:"days,omitempty"`
}

// Day of the week.
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Day string
