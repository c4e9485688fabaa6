// Package configuration has what people write about a cluster in DVP: DVPClusterConfiguration, the
// document that an installer is given, and DVPInstanceClass, by which node groups order machines.
package configuration

//go:generate sh generate.sh

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// InstanceClass is the definition of the kind DVPInstanceClass, as generated.
//
//go:embed crds/deckhouse.io_dvpinstanceclasses.yaml
var InstanceClass []byte

//go:embed documents/deckhouse.io_dvpclusterconfigurations.yaml
var clusterText []byte

// clusterSchema is that of DVPClusterConfiguration: the generated one, closed, without what only
// objects of an API have.
var clusterSchema = sync.OnceValues(func() (*spec.Schema, error) {
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema spec.Schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(clusterText, &definition); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	if len(definition.Spec.Versions) != 1 {
		return nil, fmt.Errorf("read schema: got %d versions, want one", len(definition.Spec.Versions))
	}
	schema := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	delete(schema.Properties, "metadata")
	for field, value := range map[string]string{"apiVersion": "deckhouse.io/v1", "kind": "DVPClusterConfiguration"} {
		schema.Properties[field] = *spec.StringProperty().WithEnum(value)
		schema.Required = append(schema.Required, field)
	}
	closed(&schema)
	return &schema, nil
})

// closed makes a schema refuse what it does not name, and lists that are sets refuse doubles. An API
// server drops the one and does the other by other means.
func closed(schema *spec.Schema) {
	if kind, _ := schema.Extensions.GetString("x-kubernetes-list-type"); kind == "set" {
		schema.UniqueItems = true
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		closed(schema.Items.Schema)
	}
	for _, name := range slices.Collect(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		closed(&property)
		schema.Properties[name] = property
	}
	if len(schema.Properties) > 0 && schema.AdditionalProperties == nil {
		schema.AdditionalProperties = &spec.SchemaOrBool{Allows: false}
	}
}

// fill sets what is not given to its default, all the way down.
func fill(value any, schema *spec.Schema) {
	switch value := value.(type) {
	case map[string]any:
		for name, property := range schema.Properties {
			if has, given := value[name]; (!given || has == nil) && property.Default != nil {
				value[name] = property.Default
			}
			if has := value[name]; has != nil {
				fill(has, &property)
			}
		}
	case []any:
		if schema.Items != nil && schema.Items.Schema != nil {
			for _, item := range value {
				fill(item, schema.Items.Schema)
			}
		}
	}
}
