package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VirtualMachineIPAddress holds an address for a machine; the address stays while the object lives.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=virtualmachineipaddresses,singular=virtualmachineipaddress,shortName=vmip,categories=virtualization
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Address,type=string,JSONPath=`.status.address`
// +kubebuilder:printcolumn:name=VM,type=string,JSONPath=`.status.virtualMachineName`
type VirtualMachineIPAddress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              IPAddressSpec   `json:"spec"`
	Status            IPAddressStatus `json:"status,omitempty"`
}

// VirtualMachineIPAddressList is several addresses.
//
// +kubebuilder:object:root=true
type VirtualMachineIPAddressList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualMachineIPAddress `json:"items"`
}

// IPAddressSpec asks for any address or for a certain one.
//
// +kubebuilder:validation:XValidation:rule="has(self.staticIP) == (self.type == 'Static')",message="staticIP goes with type Static and no other"
type IPAddressSpec struct {
	// +kubebuilder:validation:Enum=Auto;Static
	Type     string `json:"type"`
	StaticIP string `json:"staticIP,omitempty"`
}

// The types of addresses.
const (
	AddressAuto   = "Auto"
	AddressStatic = "Static"
)

// IPAddressStatus is the address and who has it.
type IPAddressStatus struct {
	VirtualMachineName string `json:"virtualMachineName,omitempty"`
	Address            string `json:"address,omitempty"`
	// +kubebuilder:validation:Enum=Pending;Bound;Attached
	Phase AddressPhase `json:"phase,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// AddressPhase sums an address up.
type AddressPhase string

// The phases of an address.
const (
	AddressPhasePending  AddressPhase = "Pending"
	AddressPhaseBound    AddressPhase = "Bound"
	AddressPhaseAttached AddressPhase = "Attached"
)

// VirtualMachineIPAddressLease keeps an address from being given twice. It outlives its owner for a
// while.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=virtualmachineipaddressleases,singular=virtualmachineipaddresslease,scope=Cluster,shortName={vmipl,vmiplease},categories=virtualization
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
type VirtualMachineIPAddressLease struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              IPAddressLeaseSpec   `json:"spec,omitempty"`
	Status            IPAddressLeaseStatus `json:"status,omitempty"`
}

// VirtualMachineIPAddressLeaseList is several leases.
//
// +kubebuilder:object:root=true
type VirtualMachineIPAddressLeaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualMachineIPAddressLease `json:"items"`
}

// IPAddressLeaseSpec says for whom.
type IPAddressLeaseSpec struct {
	IPAddressRef *IPAddressRef `json:"virtualMachineIPAddressRef,omitempty"`
}

// IPAddressRef names a VirtualMachineIPAddress.
type IPAddressRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// IPAddressLeaseStatus says whether it is in use.
type IPAddressLeaseStatus struct {
	// +kubebuilder:validation:Enum=Bound;Released
	Phase string `json:"phase,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// LeaseBound is the phase of a lease in use; LeaseReleased that of one which waits for its end.
const LeaseBound = "Bound"
