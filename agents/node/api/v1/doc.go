// Package v1 has the stored versions of NodeGroup and NodeUser.
//
// +kubebuilder:object:generate=true
// +groupName=deckhouse.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "deckhouse.io", Version: "v1"}

// AddToScheme makes the kinds of this package known.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &NodeGroup{}, &NodeGroupList{}, &NodeUser{}, &NodeUserList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
