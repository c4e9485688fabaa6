// Package v1alpha1 has the kinds of infrastructure.cluster.x-k8s.io by which Cluster API asks for
// machines on DVP. They keep the contract v1beta2 of Cluster API.
//
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1"}

// AddToScheme makes the kinds of this package known.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(
		GroupVersion,
		&DeckhouseCluster{}, &DeckhouseClusterList{},
		&DeckhouseControlPlane{}, &DeckhouseControlPlaneList{},
		&DeckhouseMachine{}, &DeckhouseMachineList{},
		&DeckhouseMachineTemplate{}, &DeckhouseMachineTemplateList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
