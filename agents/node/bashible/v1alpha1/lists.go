package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Lists are always empty: objects are only given to who knows their name.

// BashibleList is empty.
type BashibleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bashible `json:"items"`
}

// DeepCopyObject makes a copy that shares nothing with the original.
func (l *BashibleList) DeepCopyObject() runtime.Object {
	return &BashibleList{l.TypeMeta, *l.ListMeta.DeepCopy(), copyAll(l.Items)}
}

// NodeGroupBundleList is empty.
type NodeGroupBundleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeGroupBundle `json:"items"`
}

// DeepCopyObject makes a copy that shares nothing with the original.
func (l *NodeGroupBundleList) DeepCopyObject() runtime.Object {
	return &NodeGroupBundleList{l.TypeMeta, *l.ListMeta.DeepCopy(), copyAll(l.Items)}
}

// BootstrapList is empty.
type BootstrapList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bootstrap `json:"items"`
}

// DeepCopyObject makes a copy that shares nothing with the original.
func (l *BootstrapList) DeepCopyObject() runtime.Object {
	return &BootstrapList{l.TypeMeta, *l.ListMeta.DeepCopy(), copyAll(l.Items)}
}

func copyAll[T any, P interface {
	*T
	runtime.Object
}](items []T) []T {
	if items == nil {
		return nil
	}
	copied := make([]T, len(items))
	for i := range items {
		copied[i] = *P(&items[i]).DeepCopyObject().(P)
	}
	return copied
}
