// Package v1alpha2 has the kinds of virtualization.deckhouse.io by which a DVP offers machines:
// the fields that we set or read, under the names that DVP gives them. A field of DVP that is not
// here survives our patches and is lost by our updates, so objects that we do not own are patched.
//
// +kubebuilder:object:generate=true
// +groupName=virtualization.deckhouse.io
package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "virtualization.deckhouse.io", Version: "v1alpha2"}

// AddToScheme makes the kinds of this package known.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(
		GroupVersion,
		&VirtualMachine{}, &VirtualMachineList{},
		&VirtualDisk{}, &VirtualDiskList{},
		&VirtualMachineBlockDeviceAttachment{}, &VirtualMachineBlockDeviceAttachmentList{},
		&VirtualMachineIPAddress{}, &VirtualMachineIPAddressList{},
		&VirtualMachineIPAddressLease{}, &VirtualMachineIPAddressLeaseList{},
		&VirtualMachineClass{}, &VirtualMachineClassList{},
		&VirtualMachineOperation{}, &VirtualMachineOperationList{},
		&VirtualImage{}, &VirtualImageList{},
		&ClusterVirtualImage{}, &ClusterVirtualImageList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
