package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"commander/fleet/render"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/internal/memo"
	"commander/store"
)

// Sections of a configuration, as render errors name them. Resource groups follow as "resources/<name>".
const (
	SectionCluster   = "cluster_configuration"
	SectionProvider  = "provider_configuration"
	SectionSSH       = "ssh_configuration"
	SectionInit      = "init_configuration"
	SectionResources = "resources/"
)

// sshKeys is the pair that every cluster gets of its own.
type sshKeys struct{ public, private string }

// rendering is what a template makes of parameters.
type rendering struct {
	values store.Values // checked and completed, secrets included
	both   store.Rendering
	errors store.RenderErrors
	// records are those among the values with masks in place of their secrets, taken those to be
	// noted as used.
	records store.Values
	taken   []takenRecord
}

// identity is what the dc_ variables and the seed of chance are made of.
type identity struct {
	cluster  uuid.UUID
	revision int
	keys     sshKeys
}

// knownSchemas keeps schemas that were read: each change of a cluster asks for its version's several times.
// Nobody changes a schema.
var knownSchemas = memo.Memo[schema.Schema]{Size: 4 << 20}

// parametersOf is the schema of a version.
func parametersOf(version store.ClusterTemplateVersion) (schema.Schema, error) {
	parameters, err := knownSchemas.Of(string(version.Params), func() (schema.Schema, error) { return schema.Parse(version.Params) })
	if err != nil {
		return nil, fmt.Errorf("use version %d of template %s: %w", version.Number, version.TemplateID, err)
	}
	return parameters, nil
}

// renderWith checks values against a version's schema, puts the records of the inventory in, and
// renders every section twice: with the secrets, and with masks in their place for people to read.
func (f *Fleet) renderWith(ctx context.Context, source recordSource, version store.ClusterTemplateVersion, values, saved store.Values, id identity) (rendering, error) {
	parameters, err := parametersOf(version)
	if err != nil {
		return rendering{}, err
	}
	_, fields := withRecords(parameters)
	found, err := source.resolve(ctx, fields, values, saved)
	if err != nil {
		return rendering{}, err
	}
	return f.renderResolved(version, parameters, found, saved, id), nil
}

func (f *Fleet) renderResolved(version store.ClusterTemplateVersion, parameters schema.Schema, found resolution, saved store.Values, id identity) rendering {
	plain, _ := withRecords(parameters)
	clean, problems := plain.Check(found.values, saved)
	for key, problem := range found.problems {
		problems[key] = problem
	}
	for key, record := range found.records {
		clean[key] = record
	}
	out := rendering{values: clean, records: found.shown, taken: found.taken}
	for _, field := range parameters.Fields() {
		if p, bad := problems[field.Key]; bad {
			out.errors = append(out.errors, store.RenderError{Section: field.Key, Parameter: true, Key: p.Key, Args: p.Args})
			delete(problems, field.Key)
		}
	}
	for key, p := range problems {
		out.errors = append(out.errors, store.RenderError{Section: key, Parameter: true, Key: p.Key, Args: p.Args})
	}
	in := f.input(clean, id)
	out.both.Real, out.errors = renderSections(version, in, out.errors)
	in.Variables = f.input(masked(parameters, clean, found.shown), id).Variables // most sections have no secret and come to the same
	in.Variables["dc_sshPrivateKey"] = schema.Mask
	out.both.Shown, _ = renderSections(version, in, nil)
	if len(out.errors) == 0 {
		out.errors = append(out.errors, structureErrors(out.both.Real)...)
	}
	return out
}

// masked are the values that people may see.
func masked(parameters schema.Schema, values, records store.Values) store.Values {
	shown := store.Values(parameters.Masked(values))
	for key, record := range records {
		shown[key] = record
	}
	return shown
}

func (f *Fleet) input(values store.Values, id identity) render.Input {
	domain := f.PublicURL
	if u, err := url.Parse(f.PublicURL); err == nil && u.Host != "" {
		domain = u.Host
	}
	variables := map[string]any{
		"dc_clusterUUID":   id.cluster.String(),
		"dc_sshPublicKey":  id.keys.public,
		"dc_sshPrivateKey": id.keys.private,
		"dc_domain":        domain,
		"dc_caBundle":      base64.StdEncoding.EncodeToString([]byte(f.CABundle)),
	}
	for key, value := range values {
		variables[key] = value
	}
	return render.Input{
		Budget:    &render.Budget{},
		Written:   map[string]string{},
		Variables: variables,
		Seed:      sha256.Sum256(fmt.Appendf(nil, "%s/%d", id.cluster, id.revision)),
		Now:       f.Clock.Now().Truncate(time.Second),
	}
}

func renderSections(version store.ClusterTemplateVersion, in render.Input, found store.RenderErrors) (store.Rendered, store.RenderErrors) {
	section := func(name, text string) string {
		body, err := render.Section(name, text, in)
		if err != nil {
			found = append(found, sectionError(name, err))
		}
		return body
	}
	out := store.Rendered{
		ClusterConfiguration:  section(SectionCluster, version.ClusterConfiguration),
		ProviderConfiguration: section(SectionProvider, version.ProviderConfiguration),
		SSHConfiguration:      section(SectionSSH, version.SshConfiguration),
		InitConfiguration:     section(SectionInit, version.InitConfiguration),
	}
	for _, group := range version.ResourceGroups {
		out.Groups = append(out.Groups, store.RenderedGroup{
			Name: group.Name, Controlled: group.Controlled, Manifests: section(SectionResources+group.Name, group.Template),
		})
	}
	return out, found
}

func sectionError(section string, err error) store.RenderError {
	var problem *render.Problem
	if errors.As(err, &problem) {
		return store.RenderError{Section: section, Key: "render." + problem.Kind, Args: []any{problem.Line, problem.Text}}
	}
	return store.RenderError{Section: section, Key: "render.template", Args: []any{0, err.Error()}}
}

// structureErrors looks for what every configuration must have, whatever its provider: the
// engine for that provider says the rest.
func structureErrors(rendered store.Rendered) store.RenderErrors {
	var found store.RenderErrors
	kind := func(document *yaml.Node) string {
		var head struct {
			Kind string `yaml:"kind"`
		}
		_ = document.Decode(&head) // Section has seen that it is a mapping
		return head.Kind
	}
	first := func(text string) string {
		var document yaml.Node
		_ = yaml.Unmarshal([]byte(text), &document) // reads one document; an empty text has none, and is of no kind
		return kind(&document)
	}
	if got := first(rendered.ClusterConfiguration); got != "ClusterConfiguration" {
		found = append(found, store.RenderError{Section: SectionCluster, Key: "render.kind", Args: []any{"ClusterConfiguration", got}})
	}
	connection, _ := yamlDocuments(rendered.SSHConfiguration)
	for _, document := range connection {
		if got := kind(document); got != "SSHConfig" && got != "SSHHost" {
			found = append(found, store.RenderError{Section: SectionSSH, Key: "render.kind", Args: []any{"SSHConfig, SSHHost", got}})
		}
	}
	if got := first(rendered.ProviderConfiguration); got != "" && !strings.HasSuffix(got, "ClusterConfiguration") {
		found = append(found, store.RenderError{Section: SectionProvider, Key: "render.kind", Args: []any{"…ClusterConfiguration", got}})
	}
	return found
}

// asFault turns render errors into the answer to a form: parameters beside their fields, the
// rest under the name of their section.
func asFault(found store.RenderErrors) *fault.Error {
	fields := map[string]fault.Message{}
	for _, e := range found {
		name := e.Section
		if e.Parameter {
			name = ValueField(name)
		}
		if _, taken := fields[name]; !taken {
			fields[name] = fault.Message{Key: e.Key, Args: e.Args}
		}
	}
	return fault.Fields(fields)
}

// ValueField is the key under which problems with a parameter are told: one that is called "name"
// is not the name of the cluster.
func ValueField(key string) string { return "values." + key }

// seal closes a rendering into a row of cluster_revisions.
func (r rendering) seal(keys *store.Keyring, version store.ClusterTemplateVersion, clusterID uuid.UUID, revision int, by string) (store.InsertClusterRevisionParams, error) {
	parameters, err := parametersOf(version)
	if err != nil {
		return store.InsertClusterRevisionParams{}, err
	}
	plain, secret := parameters.Split(r.values)
	for key, shown := range r.records {
		if !sameValue(shown, r.values[key]) { // it holds secrets
			secret[key], plain[key] = r.values[key], shown
		}
	}
	row := store.InsertClusterRevisionParams{
		ID: uuid.New(), ClusterID: clusterID, Revision: revision, TemplateVersionID: &version.ID,
		Parameters: plain, RenderErrors: r.errors, CreatedBy: by,
	}
	if row.RenderErrors == nil {
		row.RenderErrors = store.RenderErrors{}
	}
	row.SecretParameters, row.SecretParametersKey, err = keys.SealJSON("cluster_revisions", "secret_parameters", row.ID, secret)
	if err != nil {
		return row, err
	}
	row.Rendered, row.RenderedKey, err = keys.SealJSON("cluster_revisions", "rendered", row.ID, r.both)
	return row, err
}

// Configuration is one wanted configuration of a cluster, opened.
type Configuration struct {
	store.ClusterRevision
	Schema schema.Schema
	// Values hold the secrets as well; Shown has masks in their place.
	Values, Shown store.Values
	Rendering     store.Rendering
	// Secrets are texts that must never reach a log or page.
	Secrets []string

	secret store.Values // of Values
}

// configuration opens a revision of a cluster.
func (f *Fleet) configuration(ctx context.Context, q store.Querier, clusterID uuid.UUID, revision int) (Configuration, error) {
	c, err := f.rendered(ctx, q, clusterID, revision)
	if err != nil {
		return c, err
	}
	if c.TemplateVersionID != nil {
		version, err := q.TemplateVersion(ctx, *c.TemplateVersionID)
		if err != nil {
			return c, fmt.Errorf("read the template of cluster %s: %w", clusterID, store.AsFault(err))
		}
		if c.Schema, err = parametersOf(version); err != nil {
			return c, err
		}
	}
	c.Shown = c.Schema.Masked(c.Values)
	for key := range c.secret {
		c.Shown[key] = schema.Mask // also of a configuration without a template, which has no schema to say so
		if shown, isRecord := c.Parameters[key]; isRecord {
			c.Shown[key] = shown
		}
	}
	return c, nil
}

// rendered opens what a revision came to, without what only people need: its schema, and its values with masks.
func (f *Fleet) rendered(ctx context.Context, q store.Querier, clusterID uuid.UUID, revision int) (Configuration, error) {
	row, err := q.ClusterRevision(ctx, store.ClusterRevisionParams{ClusterID: clusterID, Revision: revision})
	if err != nil {
		return Configuration{}, fmt.Errorf("read revision %d of cluster %s: %w", revision, clusterID, store.AsFault(err))
	}
	c := Configuration{ClusterRevision: row, Values: store.Values{}}
	for key, value := range row.Parameters {
		c.Values[key] = value
	}
	if err := f.Store.Keys.UnsealJSON("cluster_revisions", "secret_parameters", row.ID, row.SecretParameters, row.SecretParametersKey, &c.secret); err != nil {
		return c, err
	}
	for key, value := range c.secret {
		c.Values[key] = value
		if shown, isRecord := row.Parameters[key]; isRecord {
			c.Secrets = append(c.Secrets, secretsIn(value, shown)...)
			continue
		}
		c.Secrets = append(c.Secrets, schema.Text(value))
	}
	err = f.Store.Keys.UnsealJSON("cluster_revisions", "rendered", row.ID, row.Rendered, row.RenderedKey, &c.Rendering)
	return c, err
}

// secretsIn are the texts of a record, or of a list of them, that are masked in what people see.
func secretsIn(value, shown any) []string {
	var out []string
	switch v := value.(type) {
	case map[string]any:
		if s, is := shown.(map[string]any); is {
			for key, inner := range v {
				out = append(out, secretsIn(inner, s[key])...)
			}
		}
	case []any:
		if s, is := shown.([]any); is && len(s) == len(v) {
			for i, inner := range v {
				out = append(out, secretsIn(inner, s[i])...)
			}
		}
	default:
		if shown == schema.Mask {
			out = append(out, schema.Text(value))
		}
	}
	return out
}
