package fleet

import (
	"encoding/json"
	"slices"
	"strings"

	"commander/fleet/schema"
	"commander/store"
)

// TemplateVersionBody is what a version is made of.
type TemplateVersionBody struct {
	Comment string
	// ParamsText is the schema of the parameters in YAML, as its author wrote it. It decides;
	// when it is empty it is made of Params, the same schema in JSON.
	ParamsText            string
	Params                json.RawMessage
	ClusterConfiguration  string
	ProviderConfiguration string
	SSHConfiguration      string
	InitConfiguration     string
	ResourceGroups        store.ResourceGroups
}

// BodyOf is what a saved version is made of.
func BodyOf(v store.ClusterTemplateVersion) TemplateVersionBody {
	body := TemplateVersionBody{
		Comment: v.Comment, ParamsText: v.ParamsText, Params: v.Params, ClusterConfiguration: v.ClusterConfiguration,
		ProviderConfiguration: v.ProviderConfiguration, SSHConfiguration: v.SshConfiguration, InitConfiguration: v.InitConfiguration, ResourceGroups: v.ResourceGroups,
	}
	if body.ParamsText == "" {
		body.ParamsText = storedText(v.Params)
	}
	return body
}

// storedText writes a schema that has no text yet, in the order of the schema's own type: the
// database keeps no order of properties. One that cannot be read stays JSON, which is YAML as well.
func storedText(params json.RawMessage) string {
	if parsed, err := schema.Parse(params); err == nil {
		if text, err := schema.WriteYAML(parsed); err == nil {
			return text
		}
	}
	return string(params)
}

// prepared completes a body: one kind of line end, and the schema both as text and as JSON. A
// schema that cannot be read is left to be reported by the check.
func (b TemplateVersionBody) prepared() TemplateVersionBody {
	b.Comment = strings.TrimSpace(b.Comment)
	for _, text := range []*string{&b.ParamsText, &b.ClusterConfiguration, &b.ProviderConfiguration, &b.SSHConfiguration, &b.InitConfiguration} {
		*text = oneLineEnd(*text)
	}
	b.ResourceGroups = append(store.ResourceGroups{}, b.ResourceGroups...)
	for i := range b.ResourceGroups {
		g := &b.ResourceGroups[i]
		g.Name, g.Template = strings.TrimSpace(g.Name), oneLineEnd(g.Template)
	}
	if b.ParamsText == "" && len(b.Params) > 0 {
		b.ParamsText = storedText(b.Params)
	}
	if _, params, err := schema.JSON(b.ParamsText); err == nil {
		b.Params = params
	}
	return b
}

// Plain is a body as it would be saved, for comparing it with saved ones.
func (b TemplateVersionBody) Plain() TemplateVersionBody { return b.prepared() }

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func oneLineEnd(text string) string { return lineEnds.Replace(text) }

// same tells whether two prepared bodies would make the same version, comments of versions apart.
func (b TemplateVersionBody) same(other TemplateVersionBody) bool {
	return b.ParamsText == other.ParamsText && b.ClusterConfiguration == other.ClusterConfiguration &&
		b.ProviderConfiguration == other.ProviderConfiguration && b.SSHConfiguration == other.SSHConfiguration && b.InitConfiguration == other.InitConfiguration &&
		slices.Equal(b.ResourceGroups, other.ResourceGroups)
}
