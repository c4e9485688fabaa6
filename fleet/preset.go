package fleet

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"commander/store"
)

// presets hold one folder a shipped template: template.yaml with its name and the list of
// resource groups, parameters.yaml with the schema, and a file a section.
//
//go:embed presets
var presets embed.FS

type preset struct {
	key           string
	name, comment string
	body          TemplateVersionBody
}

func readPreset(key string) (preset, error) {
	read := func(name string) string {
		body, err := fs.ReadFile(presets, path.Join("presets", key, name))
		if err != nil {
			return "" // a preset has only the sections that it needs
		}
		return string(body)
	}
	var head struct {
		Name    string                `json:"name"`
		Comment string                `json:"comment"`
		Groups  []store.ResourceGroup `json:"groups"`
	}
	if err := yaml.UnmarshalStrict([]byte(read("template.yaml")), &head); err != nil {
		return preset{}, fmt.Errorf("read preset %s: %w", key, err)
	}
	params, err := yaml.YAMLToJSON([]byte(read("parameters.yaml")))
	if err != nil {
		return preset{}, fmt.Errorf("read the parameters of preset %s: %w", key, err)
	}
	for i, group := range head.Groups {
		head.Groups[i].Template = read(path.Join("groups", group.Name+".yaml"))
	}
	return preset{key: key, name: head.Name, comment: head.Comment, body: TemplateVersionBody{
		Params:                params,
		ClusterConfiguration:  read("cluster_configuration.yaml"),
		ProviderConfiguration: read("provider_configuration.yaml"),
		InitConfiguration:     read("init_configuration.yaml"),
		ResourceGroups:        head.Groups,
	}}, nil
}

// EnsurePresets gives every workspace the shipped templates, and a new version to those whose
// shipped content changed. One that was archived or edited by a person is left alone.
func (f *Fleet) EnsurePresets(ctx context.Context) error {
	folders, err := fs.ReadDir(presets, "presets")
	if err != nil {
		return err
	}
	workspaces, err := f.Store.Workspaces(ctx)
	if err != nil {
		return store.AsFault(err)
	}
	for _, folder := range folders {
		shipped, err := readPreset(folder.Name())
		if err != nil {
			return err
		}
		for _, workspace := range workspaces {
			if err := f.ensurePreset(ctx, workspace, shipped); err != nil {
				return fmt.Errorf("put preset %s into workspace %s: %w", shipped.key, workspace.Slug, err)
			}
		}
	}
	return nil
}

func (f *Fleet) ensurePreset(ctx context.Context, workspace store.Workspace, shipped preset) error {
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		template, err := tx.PresetTemplate(ctx, store.PresetTemplateParams{WorkspaceID: workspace.ID, Preset: shipped.key})
		switch {
		case notThere(err):
			template, err = tx.InsertTemplate(ctx, store.InsertTemplateParams{
				WorkspaceID: workspace.ID, Name: shipped.name, Comment: shipped.comment, Preset: shipped.key, Immutable: true,
			})
			if err != nil {
				return err
			}
		case err != nil:
			return err
		case template.ArchivedAt != nil:
			return nil
		default:
			versions, err := tx.TemplateVersions(ctx, template.ID)
			if err != nil {
				return err
			}
			edited := slices.ContainsFunc(versions, func(v store.ClusterTemplateVersion) bool { return v.CreatedBy != System.Name })
			if edited || (len(versions) > 0 && sameBody(versions[0], shipped.body)) {
				return nil
			}
		}
		_, err = f.addVersion(ctx, tx, System, template.ID, shipped.body)
		return err
	})
	if store.Unique(err, "cluster_templates_name") {
		return nil // a person took the name, or another process was faster
	}
	return err
}

func sameBody(v store.ClusterTemplateVersion, body TemplateVersionBody) bool {
	groups, errA := json.Marshal(v.ResourceGroups)
	shipped, errB := json.Marshal(body.ResourceGroups)
	if len(v.ResourceGroups) == 0 && len(body.ResourceGroups) == 0 {
		groups, shipped = nil, nil
	}
	return errA == nil && errB == nil && bytes.Equal(groups, shipped) && sameJSON(v.Params, body.Params) &&
		v.ClusterConfiguration == body.ClusterConfiguration && v.ProviderConfiguration == body.ProviderConfiguration &&
		v.InitConfiguration == body.InitConfiguration
}

// sameJSON compares meaning: PostgreSQL gives jsonb back in another order and spacing.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, errX := json.Marshal(x)
	q, errY := json.Marshal(y)
	return errX == nil && errY == nil && strings.Compare(string(p), string(q)) == 0
}
