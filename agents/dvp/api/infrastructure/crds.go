// Package infrastructure carries the definitions of the kinds that the provider of Cluster API
// serves, made from the Go types in v1alpha1.
package infrastructure

//go:generate sh generate.sh

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed crds/*.yaml
var definitions embed.FS

// Definitions are the CustomResourceDefinitions of all kinds, as generated.
func Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	names, err := fs.Glob(definitions, "crds/*.yaml")
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
