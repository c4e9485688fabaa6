package fleet

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"

	"sigs.k8s.io/yaml"

	"commander/store"
)

// presets hold one folder a shipped template: template.yaml with its name and the list of
// resource groups, parameters.yaml with the schema, a file a section, and one with the
// texts in each other language.
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
	for i, group := range head.Groups {
		head.Groups[i].Template = read(path.Join("groups", group.Name+".yaml"))
	}
	body := TemplateVersionBody{
		ParamsText:            read("parameters.yaml"),
		ClusterConfiguration:  read("cluster_configuration.yaml"),
		ProviderConfiguration: read("provider_configuration.yaml"),
		SSHConfiguration:      read("ssh_configuration.yaml"),
		InitConfiguration:     read("init_configuration.yaml"),
		ResourceGroups:        head.Groups,
	}.prepared()
	if _, problems := checkBody(body); len(problems) > 0 {
		return preset{}, fmt.Errorf("read preset %s: %w", key, refused(problems))
	}
	return preset{key: key, name: head.Name, comment: head.Comment, body: body}, nil
}

// EnsurePresets gives every workspace the shipped templates, and a new version to those whose
// shipped content changed. One that was archived is left alone, and so is one that a person has
// edited or chosen the version of: it is no longer immutable.
func (f *Fleet) EnsurePresets(ctx context.Context) error {
	if _, err := shipped(); err != nil {
		return err
	}
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
		default:
			// Somebody may be saving right now, or another process bring the same version.
			if template, err = tx.TemplateForUpdate(ctx, template.ID); err != nil {
				return err
			}
			if template.ArchivedAt != nil || !template.Immutable {
				return nil
			}
			versions, err := tx.TemplateVersions(ctx, template.ID)
			if err != nil {
				return err
			}
			if len(versions) > 0 && sameBody(versions[0], shipped.body) {
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

// sameBody compares what a version does with what is shipped: a comment in the text of the
// parameters is no reason for a new version.
func sameBody(v store.ClusterTemplateVersion, body TemplateVersionBody) bool {
	return slices.Equal(v.ResourceGroups, body.ResourceGroups) && sameJSON(v.Params, body.Params) &&
		v.ClusterConfiguration == body.ClusterConfiguration && v.ProviderConfiguration == body.ProviderConfiguration &&
		v.SshConfiguration == body.SSHConfiguration && v.InitConfiguration == body.InitConfiguration
}

// sameJSON compares meaning: PostgreSQL gives jsonb back in another order and spacing.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
