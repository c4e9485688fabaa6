// Package phases takes an operation through its phases: it tells the caller where it is, hands
// over the state at each phase end, waits for leave to go on, and passes over phases that an
// earlier attempt finished.
package phases

// Operations.
const (
	OperationBootstrap = "Bootstrap"
	OperationCheck     = "Check"
	OperationConverge  = "Converge"
	OperationDestroy   = "Destroy"
	OperationAbort     = "Abort"
	OperationAttach    = "CommanderAttach"
	OperationDetach    = "CommanderDetach"
)

// Phases, shared by the operations that have them.
const (
	BaseInfra                              = "BaseInfra"
	RegistryPackagesProxyBundle            = "RegistryPackagesProxyBundle"
	ExecuteBashibleBundle                  = "ExecuteBashibleBundle"
	InstallDeckhouse                       = "InstallDeckhouse"
	InstallAdditionalMastersAndStaticNodes = "InstallAdditionalMastersAndStaticNodes"
	CreateResources                        = "CreateResources"
	ExecPostBootstrap                      = "ExecPostBootstrap"
	Finalization                           = "Finalization"
	Check                                  = "Check"
	CheckInfra                             = "CheckInfra"
	CheckConfiguration                     = "CheckConfiguration"
	AllNodes                               = "AllNodes"
	ScaleToMultiMaster                     = "ScaleToMultiMaster"
	DeckhouseConfiguration                 = "DeckhouseConfiguration"
	DeleteResources                        = "DeleteResources"
	Scan                                   = "Scan"
	Capture                                = "Capture"
	Detach                                 = "Detach"
)

// Sub-phases of InstallDeckhouse; those of Check have the names of the phases of that operation.
const (
	ConnectToMaster         = "ConnectToMaster"
	WaitForFirstMasterReady = "WaitForFirstMasterReady"
)
