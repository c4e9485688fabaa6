package v1

// FencingMode is what happens to a node that lost the others.
// +kubebuilder:validation:Enum=Watchdog;Notify
type FencingMode string

// Modes of fencing.
const (
	FencingWatchdog FencingMode = "Watchdog" // the node resets itself, then its pods are released
	FencingNotify   FencingMode = "Notify"   // the node only tells
)

// Fencing keeps a lost node from going on with work that others take over.
type Fencing struct {
	Mode FencingMode `json:"mode"`
	// +kubebuilder:default={}
	Watchdog *FencingWatchdogSettings `json:"watchdog,omitempty"`
}

// FencingWatchdogSettings of the device that resets the node.
type FencingWatchdogSettings struct {
	// Timeout is how long the watchdog waits to be fed. Pods of a lost node are released later
	// than that.
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,4}(s|m|h)$`
	// +kubebuilder:default="60s"
	Timeout string `json:"timeout,omitempty"`
}
