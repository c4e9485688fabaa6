package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// What an exported template says of itself. docs/protocols/template-file.md describes the rest.
const (
	templateFileVersion = "commander.io/v1"
	templateFileKind    = "ClusterTemplate"
)

// maxTemplateFile bounds a file with all versions of a template, in bytes; maxFileVersions bounds
// their number.
const (
	maxTemplateFile = 32 << 20
	maxFileVersions = 10_000
)

// templateFile is a template as it travels from one installation to another.
type templateFile struct {
	APIVersion string        `yaml:"apiVersion"`
	Kind       string        `yaml:"kind"`
	Name       string        `yaml:"name"`
	Comment    string        `yaml:"comment,omitempty"`
	Current    int           `yaml:"currentVersion,omitempty"`
	Versions   []fileVersion `yaml:"versions"`
}

type fileVersion struct {
	Number     int         `yaml:"number,omitempty"`
	Comment    string      `yaml:"comment,omitempty"`
	Available  *bool       `yaml:"available,omitempty"`
	Parameters yaml.Node   `yaml:"parameters"`
	Cluster    yaml.Node   `yaml:"clusterConfiguration"`
	Provider   yaml.Node   `yaml:"providerConfiguration"`
	SSH        yaml.Node   `yaml:"sshConfiguration,omitempty"`
	Init       yaml.Node   `yaml:"initConfiguration"`
	Groups     []fileGroup `yaml:"resourceGroups,omitempty"`
}

type fileGroup struct {
	Name        string    `yaml:"name"`
	Controlled  bool      `yaml:"controlled"`
	UserManaged bool      `yaml:"userManaged"`
	Template    yaml.Node `yaml:"template"`
}

// ExportTemplate writes a template as a file: all its versions, or only the one of a number.
func (f *Fleet) ExportTemplate(ctx context.Context, actor Actor, id uuid.UUID, number int) (name string, file []byte, err error) {
	template, versions, err := f.Template(ctx, actor, id)
	if err != nil {
		return "", nil, err
	}
	out := templateFile{APIVersion: templateFileVersion, Kind: templateFileKind, Name: template.Name, Comment: template.Comment}
	for _, v := range slices.Backward(versions) {
		if number != 0 && v.Number != number {
			continue
		}
		if number == 0 && template.CurrentVersionID != nil && *template.CurrentVersionID == v.ID {
			out.Current = v.Number
		}
		out.Versions = append(out.Versions, toFile(v))
	}
	if len(out.Versions) == 0 {
		return "", nil, fault.New(fault.NotFound, "fault.not_found")
	}
	var body bytes.Buffer
	encoder := yaml.NewEncoder(&body)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(out), encoder.Close()); err != nil {
		return "", nil, fmt.Errorf("write template %s as a file: %w", id, err)
	}
	return template.Name, body.Bytes(), nil
}

func toFile(v store.ClusterTemplateVersion) fileVersion {
	body := BodyOf(v)
	out := fileVersion{
		Number: v.Number, Comment: v.Comment, Available: &v.Available, Parameters: textNode(body.ParamsText),
		Cluster: textNode(body.ClusterConfiguration), Provider: textNode(body.ProviderConfiguration), SSH: textNode(body.SSHConfiguration), Init: textNode(body.InitConfiguration),
	}
	for _, g := range body.ResourceGroups {
		out.Groups = append(out.Groups, fileGroup{g.Name, g.Controlled, g.UserManaged, textNode(g.Template)})
	}
	return out
}

// textNode writes a text line by line where that is read back as the same text, else in quotes.
func textNode(text string) yaml.Node {
	node := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.LiteralStyle}
	var back struct{ T string }
	written, err := yaml.Marshal(map[string]*yaml.Node{"t": &node})
	if text == "" || err != nil || yaml.Unmarshal(written, &back) != nil || back.T != text {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// badFile is a refusal of a file as a whole.
func badFile(key string, args ...any) error {
	return fault.Fields(map[string]fault.Message{FileField: {Key: key, Args: args}})
}

// FileField is the key under which problems with an imported file are told.
const FileField = "file"

// ImportTemplate makes a template from a file. Its versions keep their numbers; without any they
// are numbered from 1. name replaces the one in the file unless it is empty. It fails with Invalid
// when the file is no template, when a version cannot be used, and when the name is taken. nonce is
// that of the form, so that a double submit makes one template; nil for the API.
func (f *Fleet) ImportTemplate(ctx context.Context, actor Actor, workspaceID uuid.UUID, file []byte, name string, nonce *uuid.UUID) (store.ClusterTemplate, error) {
	if err := Allowed(actor, TemplatesEdit, workspaceID); err != nil {
		return store.ClusterTemplate{}, err
	}
	in, err := readTemplateFile(file)
	if err != nil {
		return store.ClusterTemplate{}, err
	}
	bodies := make([]TemplateVersionBody, len(in.Versions))
	for i, v := range in.Versions {
		if bodies[i], err = v.body(); err != nil {
			return store.ClusterTemplate{}, err
		}
	}
	if name = strings.TrimSpace(name); name == "" {
		name = strings.TrimSpace(in.Name)
	}
	if err := sound(name, in.Comment, nil); err != nil {
		return store.ClusterTemplate{}, err
	}
	wanted := NewTemplate{WorkspaceID: workspaceID, Name: name, Comment: in.Comment, Nonce: nonce}
	return f.insertTemplate(ctx, actor, wanted, change{Action: "template.import"}, func(tx *store.Tx, template store.ClusterTemplate) error {
		for i, v := range in.Versions {
			body := bodies[i]
			version, err := tx.ImportTemplateVersion(ctx, store.ImportTemplateVersionParams{
				TemplateID: template.ID, Number: v.Number, Comment: body.Comment, Available: v.Available == nil || *v.Available,
				Params: body.Params, ParamsText: body.ParamsText, ClusterConfiguration: body.ClusterConfiguration,
				ProviderConfiguration: body.ProviderConfiguration, SshConfiguration: body.SSHConfiguration, InitConfiguration: body.InitConfiguration,
				ResourceGroups: body.ResourceGroups, CreatedBy: actor.Signature(),
			})
			if err != nil {
				return fmt.Errorf("import version %d of template %s: %w", v.Number, name, err)
			}
			if v.Number != in.Current {
				continue
			}
			if err := tx.SetCurrentTemplateVersion(ctx, store.SetCurrentTemplateVersionParams{ID: template.ID, CurrentVersionID: &version.ID}); err != nil {
				return err
			}
		}
		return nil
	})
}

// readTemplateFile reads a file strictly and puts its versions in order.
func readTemplateFile(file []byte) (templateFile, error) {
	var in templateFile
	if len(file) > maxTemplateFile {
		return in, badFile("template.file.large", maxTemplateFile>>20)
	}
	if len(bytes.TrimSpace(file)) == 0 {
		return in, badFile("template.file.empty")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(file))
	decoder.KnownFields(true)
	if err := decoder.Decode(&in); err != nil {
		line, text := schema.Place(err)
		return in, badFile("template.file.yaml", line, text)
	}
	var more yaml.Node
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return in, badFile("template.file.several")
	}
	if in.APIVersion != templateFileVersion || in.Kind != templateFileKind {
		return in, badFile("template.file.kind", templateFileVersion, templateFileKind)
	}
	if len(in.Versions) == 0 || len(in.Versions) > maxFileVersions {
		return in, badFile("template.file.versions", maxFileVersions)
	}
	return in, in.number()
}

// MaxVersionNumber leaves room for as many versions after it.
const MaxVersionNumber = 1 << 30

// number gives numbers to versions that all have none, and refuses what would confuse them.
func (in *templateFile) number() error {
	numbered := slices.ContainsFunc(in.Versions, func(v fileVersion) bool { return v.Number != 0 })
	seen := map[int]bool{}
	for i := range in.Versions {
		v := &in.Versions[i]
		if !numbered {
			v.Number = i + 1
		}
		if v.Number < 1 || v.Number > MaxVersionNumber || seen[v.Number] {
			return badFile("template.file.number", v.Number)
		}
		seen[v.Number] = true
	}
	slices.SortFunc(in.Versions, func(a, b fileVersion) int { return a.Number - b.Number })
	if in.Current == 0 {
		in.Current = in.Versions[len(in.Versions)-1].Number
	}
	if !seen[in.Current] {
		return badFile("template.file.current", in.Current)
	}
	return nil
}

// body is what a version of a file is made of, checked.
func (v fileVersion) body() (TemplateVersionBody, error) {
	body := TemplateVersionBody{Comment: v.Comment}
	texts := []struct {
		node *yaml.Node
		text *string
	}{
		{&v.Parameters, &body.ParamsText},
		{&v.Cluster, &body.ClusterConfiguration},
		{&v.Provider, &body.ProviderConfiguration},
		{&v.SSH, &body.SSHConfiguration},
		{&v.Init, &body.InitConfiguration},
	}
	for _, g := range v.Groups {
		body.ResourceGroups = append(body.ResourceGroups, store.ResourceGroup{Name: g.Name, Controlled: g.Controlled, UserManaged: g.UserManaged})
	}
	for i := range v.Groups {
		texts = append(texts, struct {
			node *yaml.Node
			text *string
		}{&v.Groups[i].Template, &body.ResourceGroups[i].Template})
	}
	for _, t := range texts {
		var err error
		if *t.text, err = textOf(t.node); err != nil {
			return body, badFile("template.file.version", v.Number, t.node.Line, err.Error())
		}
	}
	body = body.prepared()
	_, problems := checkBody(body)
	if badComment(body.Comment) {
		return body, badFile("template.comment", longestComment)
	}
	for _, p := range problems {
		return body, fault.Fields(map[string]fault.Message{
			FileField: {Key: "template.file.problem", Args: []any{v.Number, p.Section}}, p.Section: p.Message,
		})
	}
	return body, nil
}

// textOf reads a text, or takes YAML that stands in its place as the text that it would be.
func textOf(node *yaml.Node) (string, error) {
	switch {
	case node.Kind == 0 || node.Tag == "!!null":
		return "", nil
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind == yaml.AliasNode:
		return "", errors.New("aliases are not followed here")
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := errors.Join(encoder.Encode(node), encoder.Close())
	return out.String(), err
}
