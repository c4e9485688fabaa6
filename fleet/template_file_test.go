package fleet_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

func TestATemplateTravelsAsAFile(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	template := makeTemplate(t, b, "team")
	body := templateBody()
	revision := template.CurrentRevision
	for _, text := range []string{"a: 1\n\n# why \nb: |\n  x\t\n\n", "\n\n  {{ .count }}", strings.Repeat("a: b\n", 3), "emoji: 🚀 \u2028 \u0085 é"} {
		body.Comment, body.InitConfiguration = "with "+text[:2], "{{ .count }}"+text
		after, err := b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{Revision: revision, Name: "team", Comment: "of: ours", Body: &body})
		require.NoError(t, err)
		revision = after.CurrentRevision
	}
	require.NoError(t, b.ChangeTemplateVersion(t.Context(), b.Admin, template.ID, 2, fleet.VersionChange{Comment: new("bad"), Available: new(false)}))
	require.NoError(t, b.UseTemplateVersion(t.Context(), b.Admin, template.ID, 3))

	name, file, err := b.ExportTemplate(t.Context(), b.Viewer, template.ID, 0)
	require.NoError(t, err)
	require.Equal(t, "team", name)
	elsewhere, err := b.EnsureWorkspace(t.Context(), "elsewhere", "")
	require.NoError(t, err)
	arrived, err := b.ImportTemplate(t.Context(), b.Admin, elsewhere.ID, file, "", nil)
	require.NoError(t, err)
	require.Equal(t, []any{"team", "of: ours"}, []any{arrived.Name, arrived.Comment})
	want, got := versionsOf(t, b, template.ID), versionsOf(t, b, arrived.ID)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, []any{want[i].Number, want[i].Available, fleet.BodyOf(want[i])}, []any{got[i].Number, got[i].Available, fleet.BodyOf(got[i])})
		if want[i].Number == 3 {
			require.Equal(t, got[i].ID, *arrived.CurrentVersionID)
		}
	}
	_, again, err := b.ExportTemplate(t.Context(), b.Admin, arrived.ID, 0)
	require.NoError(t, err)
	require.Equal(t, string(file), string(again))

	// One version alone keeps its number, and the next one follows it.
	_, one, err := b.ExportTemplate(t.Context(), b.Admin, template.ID, 4)
	require.NoError(t, err)
	alone, err := b.ImportTemplate(t.Context(), b.Admin, elsewhere.ID, one, "alone", nil)
	require.NoError(t, err)
	body.InitConfiguration = "next: 1"
	_, err = b.ChangeTemplate(t.Context(), b.Admin, alone.ID, fleet.TemplateChange{Revision: alone.CurrentRevision, Name: "alone", Body: &body})
	require.NoError(t, err)
	numbers := versionsOf(t, b, alone.ID)
	require.Equal(t, []int{5, 4}, []int{numbers[0].Number, numbers[1].Number})
}

func TestAnyTextSurvivesAFile(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	chance := rand.New(rand.NewPCG(3, 115))
	pieces := []string{"a: 1\n", " ", "\n", "\t", "# x", "'", "\"", ": ", "- ", "|\n", "é", "\u2028", "\u0085", "\ufeff", "\x7f", "---\n", "{{ .count }}", "%", "@", "  b: c\n"}
	body := templateBody()
	body.ResourceGroups = nil
	for i := range 40 {
		text := "{{/* a template */}}"
		for range chance.IntN(12) {
			text += pieces[chance.IntN(len(pieces))]
		}
		body.ResourceGroups = append(body.ResourceGroups, store.ResourceGroup{Name: "g" + strings.Repeat("x", i), Template: text})
	}
	template, err := b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: b.Workspace.ID, Name: "odd", Body: body})
	require.NoError(t, err)
	_, file, err := b.ExportTemplate(t.Context(), b.Admin, template.ID, 0)
	require.NoError(t, err)
	arrived, err := b.ImportTemplate(t.Context(), b.Admin, b.Workspace.ID, file, "odd too", nil)
	require.NoError(t, err)
	require.Equal(t, versionsOf(t, b, template.ID)[0].ResourceGroups, versionsOf(t, b, arrived.ID)[0].ResourceGroups)
}

func TestFilesWrittenByHand(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	const head = "apiVersion: commander.io/v1\nkind: ClusterTemplate\nname: hand\n"
	made, err := b.ImportTemplate(t.Context(), b.Admin, b.Workspace.ID, []byte(head+`versions:
  - parameters:
      # in place
      - {key: a, type: string, title: A, default: x}
    clusterConfiguration: {kind: ClusterConfiguration}
  - parameters: ""
`), "", nil)
	require.NoError(t, err)
	versions := versionsOf(t, b, made.ID)
	require.Equal(t, []int{2, 1}, []int{versions[0].Number, versions[1].Number}, "without numbers they count from 1")
	require.Contains(t, versions[1].ParamsText, "# in place")
	require.Equal(t, versions[0].ID, *made.CurrentVersionID)

	cases := []struct{ name, file, key string }{
		{"empty", " \n", "template.file.empty"},
		{"no YAML", "a: [", "template.file.yaml"},
		{"another kind", "apiVersion: v1\nkind: Secret\nname: x\nversions: []", "template.file.kind"},
		{"unknown property", head + "versions: []\nmore: 1", "template.file.yaml"},
		{"several documents", head + "versions: [{parameters: ''}]\n---\na: 1", "template.file.several"},
		{"no versions", head + "versions: []", "template.file.versions"},
		{"a number twice", head + "versions: [{number: 2, parameters: ''}, {number: 2, parameters: ''}]", "template.file.number"},
		{"some numbers", head + "versions: [{number: 2, parameters: ''}, {parameters: ''}]", "template.file.number"},
		{"a number below 1", head + "versions: [{number: -1, parameters: ''}]", "template.file.number"},
		{"unknown current", head + "currentVersion: 7\nversions: [{number: 2, parameters: ''}]", "template.file.current"},
		{"bad schema", head + "versions: [{number: 2, parameters: [{key: 1}]}]", "template.file.problem"},
		{"exploding", head + "a: &a [x,x]\nb: &b [*a,*a]\nversions: *b", "template.file.yaml"},
	}
	for _, c := range cases {
		_, err := b.ImportTemplate(t.Context(), b.Admin, b.Workspace.ID, []byte(c.file), "new", nil)
		require.Equal(t, c.key, fieldsOf(t, err)[fleet.FileField].Key, "%s: %v", c.name, err)
	}
	_, err = b.ImportTemplate(t.Context(), b.Admin, b.Workspace.ID, []byte(head+"versions: [{parameters: ''}]"), "", nil)
	require.Equal(t, "template.name.taken", fieldsOf(t, err)[fleet.Name].Key)
}
