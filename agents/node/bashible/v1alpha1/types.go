// Package v1alpha1 has the kinds of the group bashible.deckhouse.io, by which a node reads how it
// shall be. They are served by name and never stored.
package v1alpha1

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of all kinds here.
var GroupVersion = schema.GroupVersion{Group: "bashible.deckhouse.io", Version: "v1alpha1"}

// AnnotationChecksum is the checksum of the configuration that an object belongs to.
const AnnotationChecksum = "bashible.deckhouse.io/configuration-checksum"

// Bashible is the script that a node of a group starts to configure itself.
type Bashible struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Data              map[string]string `json:"data"` // script by file name: bashible.sh alone
}

// NodeGroupBundle is the steps of a group's nodes.
type NodeGroupBundle struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Data              map[string]string `json:"data"` // script by file name; they run in the names' order
}

// Bootstrap is the script that makes a machine a node of a group.
type Bootstrap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Bootstrap         string `json:"bootstrap"`
}

// DeepCopyObject makes a copy that shares nothing with the original.
func (b *Bashible) DeepCopyObject() runtime.Object {
	return &Bashible{b.TypeMeta, *b.ObjectMeta.DeepCopy(), maps.Clone(b.Data)}
}

// DeepCopyObject makes a copy that shares nothing with the original.
func (b *NodeGroupBundle) DeepCopyObject() runtime.Object {
	return &NodeGroupBundle{b.TypeMeta, *b.ObjectMeta.DeepCopy(), maps.Clone(b.Data)}
}

// DeepCopyObject makes a copy that shares nothing with the original.
func (b *Bootstrap) DeepCopyObject() runtime.Object {
	return &Bootstrap{b.TypeMeta, *b.ObjectMeta.DeepCopy(), b.Bootstrap}
}

// AddToScheme makes the kinds known.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Bashible{}, &NodeGroupBundle{}, &Bootstrap{},
		&BashibleList{}, &NodeGroupBundleList{}, &BootstrapList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
