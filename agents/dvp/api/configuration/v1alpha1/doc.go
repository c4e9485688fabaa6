// Package v1alpha1 holds DVPInstanceClass: what machines of node groups are made of, in the words that
// people write.
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
	s.AddKnownTypes(GroupVersion, &DVPInstanceClass{}, &DVPInstanceClassList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
