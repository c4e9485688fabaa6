package v1alpha1

// The names of the models in the description of the API.
const model = "io.deckhouse.bashible.v1alpha1."

// OpenAPIModelName is the name of the model in the description of the API.
func (Bashible) OpenAPIModelName() string { return model + "Bashible" }

// OpenAPIModelName is the name of the model in the description of the API.
func (NodeGroupBundle) OpenAPIModelName() string { return model + "NodeGroupBundle" }

// OpenAPIModelName is the name of the model in the description of the API.
func (Bootstrap) OpenAPIModelName() string { return model + "Bootstrap" }

// OpenAPIModelName is the name of the model in the description of the API.
func (BashibleList) OpenAPIModelName() string { return model + "BashibleList" }

// OpenAPIModelName is the name of the model in the description of the API.
func (NodeGroupBundleList) OpenAPIModelName() string { return model + "NodeGroupBundleList" }

// OpenAPIModelName is the name of the model in the description of the API.
func (BootstrapList) OpenAPIModelName() string { return model + "BootstrapList" }
