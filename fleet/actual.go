package fleet

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"commander/fleet/render"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// actualSide is what the last check read in a cluster, with masks in place of secrets.
func (f *Fleet) actualSide(ctx context.Context, cluster store.Cluster) (Side, error) {
	side := Side{Name: SideActual}
	row, err := f.Store.ClusterCheck(ctx, cluster.ID)
	if notThere(err) {
		return side, fault.New(fault.NotFound, "cluster.never_checked", cluster.Name)
	}
	if err != nil {
		return side, store.AsFault(err)
	}
	var actual store.Actual
	if err := f.Store.Keys.UnsealJSON("cluster_checks", "actual", cluster.ID, row.Actual, row.ActualKey, &actual); err != nil {
		return side, err
	}
	wanted, err := f.configuration(ctx, f.Store.Querier, cluster.ID, cluster.Revision)
	if err != nil {
		return side, err
	}
	side.At, side.Shown = row.FoundAt, maskActual(actual, wanted)
	return side, nil
}

// maskActual hides in documents from a cluster what is secret in its configuration, wherever it
// stands, and what is called like a secret.
func maskActual(actual store.Actual, wanted Configuration) store.Rendered {
	redactor := NewRedactor(wanted.Secrets)
	return store.Rendered{
		ClusterConfiguration:  maskDocuments(actual.ClusterConfiguration, wanted.Rendering.Shown.ClusterConfiguration, redactor),
		ProviderConfiguration: maskDocuments(actual.ProviderConfiguration, wanted.Rendering.Shown.ProviderConfiguration, redactor),
	}
}

// secretName is what things that nobody should see are called.
var secretName = regexp.MustCompile(`(?i)(password|passphrase|secret|token|private_?key|credential|kubeconfig|access_?key|dockercfg|dockerconfig)`)

// maskDocuments writes YAML anew with masks where the guide has them. A text that is no YAML is
// hidden whole, since nobody can tell what in it is secret.
func maskDocuments(text, guide string, redactor *Redactor) string {
	documents, err := yamlDocuments(text)
	if err != nil {
		return schema.Mask + "\n"
	}
	guides, err := yamlDocuments(guide)
	if err != nil {
		guides = nil
	}
	var out strings.Builder
	for i, document := range documents {
		var beside *yaml.Node
		if i < len(guides) {
			beside = guides[i]
		}
		maskNode(document, beside, "", redactor)
		body, err := yaml.Marshal(document)
		if err != nil {
			return schema.Mask + "\n"
		}
		out.WriteString("---\n")
		out.Write(body)
	}
	masked, err := render.Normalise(out.String())
	if err != nil {
		return schema.Mask + "\n"
	}
	return masked
}

func yamlDocuments(text string) ([]*yaml.Node, error) {
	if text == "" {
		return nil, nil
	}
	var out []*yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(document.Content) > 0 {
			out = append(out, document.Content[0])
		}
	}
}

func maskNode(node, guide *yaml.Node, name string, redactor *Redactor) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i].Value
			maskNode(node.Content[i+1], under(guide, key), key, redactor)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			var beside *yaml.Node
			if guide != nil && guide.Kind == yaml.SequenceNode && i < len(guide.Content) {
				beside = guide.Content[i]
			}
			maskNode(item, beside, name, redactor)
		}
	case yaml.ScalarNode:
		switch {
		case guide != nil && strings.Contains(guide.Value, schema.Mask), guide == nil && secretName.MatchString(name) && node.Value != "":
			node.SetString(schema.Mask)
		default:
			if shown := redactor.Text(node.Value); shown != node.Value {
				node.SetString(shown)
			}
		}
	}
}

func under(guide *yaml.Node, key string) *yaml.Node {
	if guide == nil || guide.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(guide.Content); i += 2 {
		if guide.Content[i].Value == key {
			return guide.Content[i+1]
		}
	}
	return nil
}
