// Package v1alpha1 has NodeGroupConfiguration and the oldest version of NodeGroup.
//
// +kubebuilder:object:generate=true
// +groupName=deckhouse.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "deckhouse.io", Version: "v1alpha1"}

// AddToScheme makes the kinds of this package known.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&NodeGroup{}, &NodeGroupList{}, &NodeGroupConfiguration{}, &NodeGroupConfigurationList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
