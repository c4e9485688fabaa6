// Package crds has the definitions of our kinds, made from their Go types.
package crds

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed *.yaml
var definitions embed.FS

// Definitions are the CustomResourceDefinitions of all our kinds, as generated. NodeGroup is
// served in three versions and needs WithConversion before it is installed.
func Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	names, err := fs.Glob(definitions, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list definitions: %w", err)
	}
	all := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(names))
	for _, name := range names {
		text, err := definitions.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read definition: %w", err)
		}
		crd := new(apiextensionsv1.CustomResourceDefinition)
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		all = append(all, crd)
	}
	return all, nil
}

// WithConversion makes a definition convert its versions by the webhook at client.
func WithConversion(crd *apiextensionsv1.CustomResourceDefinition, client apiextensionsv1.WebhookClientConfig) {
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: &client, ConversionReviewVersions: []string{"v1"},
		},
	}
}
