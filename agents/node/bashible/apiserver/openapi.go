package apiserver

import (
	"maps"

	extensions "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"commander/agents/node/bashible/v1alpha1"
)

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1."

// definitions describes our kinds, and the built-in ones that every API speaks of.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	files := spec.MapProperty(spec.StringProperty())
	all := maps.Clone(extensions.GetOpenAPIDefinitions(ref))
	for _, kind := range []struct {
		one, list any
		field     string
		schema    *spec.Schema
	}{
		{v1alpha1.Bashible{}, v1alpha1.BashibleList{}, "data", files},
		{v1alpha1.NodeGroupBundle{}, v1alpha1.NodeGroupBundleList{}, "data", files},
		{v1alpha1.Bootstrap{}, v1alpha1.BootstrapList{}, "bootstrap", spec.StringProperty()},
	} {
		one, list := util.GetCanonicalTypeName(kind.one), util.GetCanonicalTypeName(kind.list)
		item := spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(one)}}
		all[one] = object(ref, meta+"ObjectMeta", kind.field, kind.schema)
		all[list] = object(ref, meta+"ListMeta", "items", spec.ArrayProperty(&item))
		described := all[list]
		described.Dependencies = append(described.Dependencies, one)
		all[list] = described
	}
	return all
}

func object(ref common.ReferenceCallback, metadata, field string, schema *spec.Schema) common.OpenAPIDefinition {
	return common.OpenAPIDefinition{
		Schema: spec.Schema{SchemaProps: spec.SchemaProps{
			Type: []string{"object"},
			Properties: map[string]spec.Schema{
				"apiVersion": *spec.StringProperty(), "kind": *spec.StringProperty(),
				"metadata": {SchemaProps: spec.SchemaProps{Ref: ref(metadata)}}, field: *schema,
			},
			Required: []string{field},
		}},
		Dependencies: []string{metadata},
	}
}
