// Package v1 holds DVPClusterConfiguration, a document that an installer is given. It is no kind of
// any API; its schema is made as that of a kind is, and held to more strictly.
//
// +kubebuilder:object:generate=true
// +groupName=deckhouse.io
package v1
