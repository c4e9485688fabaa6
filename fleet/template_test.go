package fleet_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

const parametersText = `# What a team may choose.
- header: Size
- key: count # of workers
  type: number
  title: Workers
  default: 2
- key: secret
  type: string
  format: password
  title: Secret
  optional: true
`

func templateBody() fleet.TemplateVersionBody {
	return fleet.TemplateVersionBody{
		Comment: "first", ParamsText: parametersText,
		ClusterConfiguration: "kind: ClusterConfiguration\ncount: {{ .count }}\nclusterType: Static\n",
		ResourceGroups: store.ResourceGroups{
			{Name: "base", Controlled: true, UserManaged: true, Template: "kind: A\nkey: {{ .dc_sshPublicKey | quote }}\n"},
			{Name: "extra", Template: "---\n---\n"},
		},
	}
}

func makeTemplate(t *testing.T, b *fleettest.Bench, name string) store.ClusterTemplate {
	t.Helper()
	template, err := b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: b.Workspace.ID, Name: name, Body: templateBody()})
	require.NoError(t, err)
	return template
}

func versionsOf(t *testing.T, b *fleettest.Bench, id uuid.UUID) []store.ClusterTemplateVersion {
	t.Helper()
	_, versions, err := b.Template(t.Context(), b.Admin, id)
	require.NoError(t, err)
	return versions
}

// fieldsOf are the problems that an error names.
func fieldsOf(t *testing.T, err error) map[string]fault.Message {
	t.Helper()
	var known *fault.Error
	require.ErrorAs(t, err, &known)
	require.Equal(t, fault.Invalid, known.Kind, "%v", err)
	return known.Fields
}

func TestEachSaveIsAVersion(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	template := makeTemplate(t, b, "team")
	cluster, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: "one", TemplateVersionID: *template.CurrentVersionID, Values: store.Values{"count": 3.0},
	})
	require.NoError(t, err)

	body := templateBody()
	body.Comment, body.InitConfiguration = "second", "a: 1\r\nb: 2\r\n"
	after, err := b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{
		Revision: template.CurrentRevision, Name: "team two", Comment: "of ours", Body: &body,
	})
	require.NoError(t, err)
	require.Equal(t, "team two", after.Name)
	require.Greater(t, after.CurrentRevision, template.CurrentRevision)
	versions := versionsOf(t, b, template.ID)
	require.Len(t, versions, 2)
	require.Equal(t, []any{2, "second", 1, "first"}, []any{versions[0].Number, versions[0].Comment, versions[1].Number, versions[1].Comment})
	require.Equal(t, versions[0].ID, *after.CurrentVersionID)
	require.Equal(t, parametersText, versions[0].ParamsText, "comments and order stay")
	require.Equal(t, "a: 1\nb: 2\n", versions[0].InitConfiguration, "a browser's line ends do not")

	kept, err := b.Store.Cluster(t.Context(), cluster.ID)
	require.NoError(t, err)
	require.Equal(t, versions[1].ID, *kept.TemplateVersionID, "a cluster keeps its version")

	same, err := b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{
		Revision: after.CurrentRevision, Name: "team two", Comment: "of ours", Body: &body,
	})
	require.NoError(t, err)
	require.Equal(t, after.CurrentRevision, same.CurrentRevision)
	require.Len(t, versionsOf(t, b, template.ID), 2, "what is the same is no new version")
}

func TestSavesAtTheSameTimeMakeOneVersion(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	template := makeTemplate(t, b, "team")
	save := func(comment, init string) error {
		body := templateBody()
		body.Comment, body.InitConfiguration = comment, init
		_, err := b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{Revision: template.CurrentRevision, Name: "team", Body: &body})
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wg.Go(func() { errs[i] = save("", "a: "+string(rune('a'+i%6))+"\n") })
	}
	wg.Wait()
	versions := versionsOf(t, b, template.ID)
	require.Len(t, versions, 2, "one of all savers wins")
	saved := 0
	for i, err := range errs {
		if err == nil {
			saved++
			require.Equal(t, versions[0].InitConfiguration, "a: "+string(rune('a'+i%6))+"\n", "who is told that it was saved can read it")
			continue
		}
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	}
	require.Equal(t, 2, saved, "the winner, and who saved the very same")
}

func TestAFormSentTwiceMakesOneTemplate(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	nonce := uuid.New()
	var wg sync.WaitGroup
	made := make([]store.ClusterTemplate, 6)
	errs := make([]error, len(made))
	for i := range made {
		wg.Go(func() {
			made[i], errs[i] = b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: b.Workspace.ID, Name: "team", Body: templateBody(), Nonce: &nonce})
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	for _, m := range made {
		require.Equal(t, made[0].ID, m.ID)
	}
	require.Len(t, versionsOf(t, b, made[0].ID), 1)
	_, err := b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: b.Workspace.ID, Name: "team", Body: templateBody()})
	require.Equal(t, "template.name.taken", fieldsOf(t, err)[fleet.Name].Key)
}

func TestAnUnavailableVersionIsForNoNewCluster(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	template := makeTemplate(t, b, "team")
	make := func(name string) (store.Cluster, error) {
		c, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: *template.CurrentVersionID})
		return c, err
	}
	cluster, err := make("before")
	require.NoError(t, err)
	require.NoError(t, b.ChangeTemplateVersion(t.Context(), b.Admin, template.ID, 1, fleet.VersionChange{Comment: new("broken"), Available: new(false)}))
	require.Equal(t, "broken", versionsOf(t, b, template.ID)[0].Comment)
	_, err = make("after")
	require.Equal(t, "template.version.unavailable", fieldsOf(t, err)[fleet.VersionField].Key)

	// The cluster that has it goes on with it.
	changed, _, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: cluster.Revision, Name: cluster.Name, TemplateVersionID: *template.CurrentVersionID, Values: store.Values{"count": 5.0},
	})
	require.NoError(t, err)
	require.Greater(t, changed.Revision, cluster.Revision)

	body := templateBody()
	body.InitConfiguration = "a: 1"
	_, err = b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{Revision: template.CurrentRevision, Name: "team", Body: &body})
	require.NoError(t, err)
	require.True(t, fault.Is(b.UseTemplateVersion(t.Context(), b.Admin, template.ID, 1), fault.Conflict), "nor the current one")
	require.NoError(t, b.ChangeTemplateVersion(t.Context(), b.Admin, template.ID, 1, fleet.VersionChange{Available: new(true)}))
	require.NoError(t, b.UseTemplateVersion(t.Context(), b.Admin, template.ID, 1))
	_, err = make("again")
	require.NoError(t, err)
}

func TestTemplatesGoToTheArchiveAndBack(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	template := makeTemplate(t, b, "team")
	archived, err := b.ArchiveTemplate(t.Context(), b.Admin, template.ID)
	require.NoError(t, err)
	require.Equal(t, 1, *archived.ArchiveNumber)
	_, _, err = b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: "one", TemplateVersionID: *template.CurrentVersionID})
	require.Equal(t, "template.version.archived", fieldsOf(t, err)[fleet.VersionField].Key)
	body := templateBody()
	_, err = b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{Revision: archived.CurrentRevision, Name: "x", Body: &body})
	require.True(t, fault.Is(err, fault.Conflict))

	twin := makeTemplate(t, b, "team")
	_, err = b.RestoreTemplate(t.Context(), b.Admin, template.ID)
	require.True(t, fault.Is(err, fault.Conflict), "its name is taken: %v", err)
	second, err := b.ArchiveTemplate(t.Context(), b.Admin, twin.ID)
	require.NoError(t, err)
	require.Equal(t, 2, *second.ArchiveNumber)
	restored, err := b.RestoreTemplate(t.Context(), b.Admin, template.ID)
	require.NoError(t, err)
	require.Nil(t, restored.ArchivedAt)
	_, err = b.ChangeTemplate(t.Context(), b.Viewer, template.ID, fleet.TemplateChange{Name: "x"})
	require.True(t, fault.Is(err, fault.Forbidden))
	_, err = b.ArchiveTemplate(t.Context(), b.Stranger, template.ID)
	require.True(t, fault.Is(err, fault.NotFound))
}

// outdate makes a template look as an earlier release would have shipped it.
func outdate(t *testing.T, b *fleettest.Bench, id uuid.UUID) {
	t.Helper()
	_, err := b.Store.Pool.Exec(t.Context(), "update cluster_template_versions set init_configuration = 'old: 1' where template_id = $1", id)
	require.NoError(t, err)
}

func TestPresetsAreUpgradedUnlessPeopleHaveThem(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	id := b.Lab.TemplateID
	upgraded := func() bool {
		before := len(versionsOf(t, b, id))
		require.NoError(t, b.EnsurePresets(t.Context()))
		return len(versionsOf(t, b, id)) > before
	}
	require.False(t, upgraded(), "nothing new is shipped")
	outdate(t, b, id)
	require.True(t, upgraded())

	outdate(t, b, id)
	_, err := b.ArchiveTemplate(t.Context(), b.Admin, id)
	require.NoError(t, err)
	require.False(t, upgraded(), "in the archive")
	_, err = b.RestoreTemplate(t.Context(), b.Admin, id)
	require.NoError(t, err)
	require.True(t, upgraded(), "back from there")

	template, versions, err := b.Template(t.Context(), b.Admin, id)
	require.NoError(t, err)
	require.True(t, template.Immutable)
	body := fleet.BodyOf(versions[0])
	body.InitConfiguration = "mine: 1"
	after, err := b.ChangeTemplate(t.Context(), b.Admin, id, fleet.TemplateChange{Revision: template.CurrentRevision, Name: template.Name, Comment: template.Comment, Body: &body})
	require.NoError(t, err)
	require.False(t, after.Immutable, "it is the editor's now")
	require.False(t, upgraded(), "edited")
}

func TestPresetUpgradesOfTwoProcessesMakeOneVersion(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	outdate(t, b, b.Lab.TemplateID)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if err := b.EnsurePresets(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, versionsOf(t, b, b.Lab.TemplateID), 2)
}

func TestWhatIsWrongWithATemplateIsToldByLine(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cases := []struct {
		name    string
		change  func(*fleet.TemplateVersionBody)
		section string
		line    int
		key     string
	}{
		{"schema", func(b *fleet.TemplateVersionBody) {
			b.ParamsText = "- header: A\n# why\n- key: a\n  title: A\n  type: nothing\n- header: B\n"
		}, "params", 5, "schema.type"},
		{"key used twice", func(b *fleet.TemplateVersionBody) {
			b.ParamsText += "- key: count\n  type: string\n  title: Again\n"
		}, "params", 12, "schema.key_twice"},
		{"schema is no list", func(b *fleet.TemplateVersionBody) { b.ParamsText = "\na: 1" }, "params", 2, "schema.list"},
		{"schema is no YAML", func(b *fleet.TemplateVersionBody) { b.ParamsText = "- a: 1\n- b: [\n" }, "params", 2, "schema.yaml"},
		{"tab", func(b *fleet.TemplateVersionBody) { b.ParamsText = "- header: A\n\t- b: 1\n" }, "params", 2, "schema.yaml"},
		{"double property", func(b *fleet.TemplateVersionBody) { b.ParamsText = "- header: A\n  header: B\n" }, "params", 2, "schema.yaml"},
		{"NUL", func(b *fleet.TemplateVersionBody) { b.InitConfiguration = "a: \x00" }, "init_configuration", 0, "template.problem.encoding"},
		{"not UTF-8", func(b *fleet.TemplateVersionBody) { b.ParamsText = "- header: \xff" }, "params", 0, "template.problem.encoding"},
		{"template syntax", func(b *fleet.TemplateVersionBody) { b.ClusterConfiguration = "a: 1\nb: {{ .x | nope }}\n" }, "cluster_configuration", 2, "render.template"},
		{"plain YAML", func(b *fleet.TemplateVersionBody) { b.ProviderConfiguration = "a: 1\na: 2\n" }, "provider_configuration", 2, "render.yaml"},
		{"group twice", func(b *fleet.TemplateVersionBody) { b.ResourceGroups[1].Name = "base" }, "resources/1", 0, "template.problem.group_twice"},
		{"reserved group", func(b *fleet.TemplateVersionBody) { b.ResourceGroups[1].Name = fleet.ReservedGroup }, "resources/1", 0, "template.problem.group_reserved"},
		{"group without a name", func(b *fleet.TemplateVersionBody) { b.ResourceGroups[0].Name = " " }, "resources/0", 0, "template.problem.group_unnamed"},
		{"name of a group", func(b *fleet.TemplateVersionBody) { b.ResourceGroups[0].Name = "a/b" }, "resources/0", 0, "template.problem.group_name"},
		{"group's template", func(b *fleet.TemplateVersionBody) { b.ResourceGroups[1].Template = "{{ if }}" }, "resources/1", 1, "render.template"},
		{"too large", func(b *fleet.TemplateVersionBody) { b.InitConfiguration = "a: " + strings.Repeat("x", 5<<20) }, "params", 0, "template.problem.large"},
	}
	for _, c := range cases {
		body := templateBody()
		c.change(&body)
		trial, err := b.TryTemplate(t.Context(), b.Viewer, b.Workspace.ID, body, nil)
		require.NoError(t, err, c.name)
		at := slices.IndexFunc(trial.Problems, func(p fleet.TemplateProblem) bool { return !p.Warning })
		require.GreaterOrEqual(t, at, 0, c.name)
		got := trial.Problems[at]
		require.Equal(t, []any{c.section, c.line, c.key}, []any{got.Section, got.Line, got.Message.Key}, "%s: %v", c.name, got.Message.Args)
		_, err = b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: b.Workspace.ID, Name: "bad", Body: body})
		require.Equal(t, c.key, fieldsOf(t, err)[c.section].Key, c.name)
	}
}

func TestADraftIsTriedWithValues(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	body := templateBody()
	body.ResourceGroups[0].Template += "secret: {{ .secret }}\nworkers: {{ mul .count 2 }}\ncluster: {{ .dc_clusterUUID }} {{ .dc_domain }} {{ .dc_caBundle }}\n"
	trial, err := b.TryTemplate(t.Context(), b.Viewer, b.Workspace.ID, body, store.Values{"count": 4.0, "secret": "hunter22"})
	require.NoError(t, err)
	require.Empty(t, trial.Problems)
	require.Equal(t, "kind: ClusterConfiguration\ncount: 4\nclusterType: Static\n", trial.Shown.ClusterConfiguration)
	require.Equal(t, "base", trial.Shown.Groups[0].Name)
	require.Contains(t, trial.Shown.Groups[0].Manifests, "workers: 8")
	require.Contains(t, trial.Shown.Groups[0].Manifests, "commander.test")
	require.NotContains(t, trial.Shown.Groups[0].Manifests, "hunter22")
	require.Empty(t, trial.Shown.Groups[1].Manifests, "separators alone make nothing")

	body.InitConfiguration = "a: 1\nb: {{ fail \"stop here\" }}"
	body.ProviderConfiguration = "a: [{{ .count }}\n"
	trial, err = b.TryTemplate(t.Context(), b.Viewer, b.Workspace.ID, body, nil)
	require.NoError(t, err)
	require.Len(t, trial.Problems, 2)
	for _, p := range trial.Problems {
		require.True(t, p.Warning, "other values may do better")
	}
	require.Equal(t, []any{"provider_configuration", "template.problem.result"}, []any{trial.Problems[0].Section, trial.Problems[0].Message.Key})
	require.Equal(t, []any{"init_configuration", 2}, []any{trial.Problems[1].Section, trial.Problems[1].Line})

	trial, err = b.TryTemplate(t.Context(), b.Viewer, b.Workspace.ID, body, store.Values{"count": "many"})
	require.NoError(t, err)
	require.Empty(t, trial.Problems, "the value is what is wrong")
	require.Equal(t, "count", trial.Errors[0].Section)
	_, err = b.TryTemplate(t.Context(), b.Stranger, b.Workspace.ID, body, nil)
	require.True(t, fault.Is(err, fault.NotFound))
}
