package clusters

import (
	"commander/views/i18n"
	"commander/views/ui"
)

// Attach is the form that takes over a cluster that was not made here.
type Attach struct {
	Slug    string
	Nonce   string
	Fields  []ui.Field
	Message i18n.Message
}

// FieldKubeconfig is the name of the field that takes a kubeconfig.
const FieldKubeconfig = "kubeconfig"

// Unmade is the configuration of a cluster that no template made: its own documents, and the
// templates that it may have from now on.
type Unmade struct {
	Head
	Cards    []TemplateCard
	Sections []Section
}
