package discoverer

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

//go:embed schema.yaml
var schemaText []byte

// Check says what is wrong with data, against the schema that its readers hold it to.
func Check(text []byte) error {
	schema := new(spec.Schema)
	if err := yaml.Unmarshal(schemaText, schema); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	var data any
	if err := json.Unmarshal(text, &data); err != nil {
		return fmt.Errorf("discovery data is no JSON: %w", err)
	}
	return errors.Join(validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(data).Errors...)
}
