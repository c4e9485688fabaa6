package api

// Types and reasons of the conditions that a node tells about its own configuration.
const (
	ConditionBashibleReady             = "BashibleReady"
	ConditionWaitingApproval           = "WaitingApproval"
	ConditionWaitingDisruptionApproval = "WaitingDisruptionApproval"

	ReasonStepsCompleted                = "StepsCompleted"
	ReasonStepsFailed                   = "StepsFailed"
	ReasonError                         = "Error"
	ReasonInitialRunInProgress          = "InitialRunInProgress"
	ReasonUpdateApprovalRequired        = "UpdateApprovalRequired"
	ReasonUpdateApprovalNotRequired     = "UpdateApprovalNotRequired"
	ReasonDisruptionApprovalRequired    = "DisruptionApprovalRequired"
	ReasonDisruptionApprovalNotRequired = "DisruptionApprovalNotRequired"
)
