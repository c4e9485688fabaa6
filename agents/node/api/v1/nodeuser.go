package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeUser is a Linux user on nodes.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name=Uid,type=integer,JSONPath=`.spec.uid`
// +kubebuilder:printcolumn:name=IsSudoer,type=boolean,JSONPath=`.spec.isSudoer`
// +kubebuilder:printcolumn:name=ExtraGroups,type=string,JSONPath=`.spec.extraGroups`
// +kubebuilder:printcolumn:name=NodeGroups,type=string,JSONPath=`.spec.nodeGroups`
// +kubebuilder:printcolumn:name=Errors,type=string,JSONPath=`.status.errors`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type NodeUser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NodeUserSpec   `json:"spec"`
	Status            NodeUserStatus `json:"status,omitempty"`
}

// NodeUserList is several users.
//
// +kubebuilder:object:root=true
type NodeUserList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeUser `json:"items"`
}

// NodeUserSpec is how the user shall be.
//
// +kubebuilder:validation:XValidation:rule="has(self.sshPublicKey) != has(self.sshPublicKeys)",message="exactly one of sshPublicKey and sshPublicKeys is needed"
// +kubebuilder:validation:XValidation:rule="self.uid == oldSelf.uid",message="uid cannot be changed"
type NodeUserSpec struct {
	// +kubebuilder:validation:Minimum=1001
	UID           int64    `json:"uid"`
	SSHPublicKey  string   `json:"sshPublicKey,omitempty"`
	SSHPublicKeys []string `json:"sshPublicKeys,omitempty"`
	// PasswordHash as in /etc/shadow.
	PasswordHash string   `json:"passwordHash"`
	IsSudoer     bool     `json:"isSudoer,omitempty"`
	ExtraGroups  []string `json:"extraGroups,omitempty"`
	// NodeGroups that get the user; "*" means all.
	// +kubebuilder:default={"*"}
	NodeGroups []string `json:"nodeGroups,omitempty"`
}

// NodeUserStatus has what went wrong, by the node's name.
type NodeUserStatus struct {
	Errors map[string]string `json:"errors,omitempty"`
}
