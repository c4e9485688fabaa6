package web

import (
	"net/http"
	"path"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/builder"
	"commander/views/clusters"
	"commander/views/paths"
)

const certificateParameters = `# what machines trust
- key: ca
  type: string
  title: Certificate
  default: |
    -----BEGIN-----

    one # not a comment
    -----END-----
  pattern: (?s)^\s*-----BEGIN.*END-----\s*$
  multiline: true
- key: key
  type: string
  title: Key
  format: password
  optional: true
  multiline: true
`

// TestATextOfSeveralLinesStaysAsItIs takes a text of several lines through the form of a cluster, its
// template, and back into the form.
func TestATextOfSeveralLinesStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template, err := s.CreateTemplate(t.Context(), fleet.System, fleet.NewTemplate{WorkspaceID: s.workspace.ID, Name: "Trusting", Body: fleet.TemplateVersionBody{
		ParamsText: certificateParameters, ClusterConfiguration: "kind: ClusterConfiguration\nclusterType: Static\nca: {{ .ca | quote }}\nkeyLines: {{ .key | default \"\" | splitList \"\\n\" | len }}\n",
	}})
	require.NoError(t, err)
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.NewCluster("demo", template.ID.String()))
	require.Equal(t, "-----BEGIN-----\n\none # not a comment\n-----END-----\n", form.Find("textarea[name='"+parameter("ca")+"']").Text(), "the default")
	key := form.Find("textarea[name='" + parameter("key") + "']")
	_, covered := key.Attr("data-secret")
	require.True(t, covered, "a secret of several lines is covered")

	const typed, meant = "\r\n-----BEGIN-----\r\n  two\r\n-----END-----\r\n", "\n-----BEGIN-----\n  two\n-----END-----\n"
	filled := form.fill(t, clusterForm, "name", "trusting", parameter("ca"), typed, parameter("key"), "a\r\nb\r\nc", clusters.FieldAction, clusters.ActionSave)
	got := b.post(paths.Clusters("demo"), filled)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Find(".problem").Text())
	at := got.Header.Get("Location")
	id, err := uuid.Parse(path.Base(at))
	require.NoError(t, err)
	view, err := s.Cluster(t.Context(), fleet.System, id)
	require.NoError(t, err)
	require.Equal(t, meant, view.Wanted.Values["ca"])
	require.Equal(t, "a\nb\nc", view.Wanted.Values["key"])
	require.Contains(t, view.Wanted.Rendering.Real.ClusterConfiguration, "keyLines: 3")

	page := b.get(at + "/configuration")
	require.Equal(t, meant, page.Find("textarea[name='"+parameter("ca")+"']").Text(), "the first line end is not lost")
	require.Empty(t, page.Find("textarea[name='"+parameter("key")+"']").Text())
	require.Zero(t, page.Find("[data-changed]").Length())
	got = b.post(at+"/configuration", page.fill(t, clusterForm, clusters.FieldAction, clusters.ActionSave))
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Find(".problem").Text())
	view, err = s.Cluster(t.Context(), fleet.System, id)
	require.NoError(t, err)
	require.Equal(t, meant, view.Wanted.Values["ca"])
	require.Equal(t, "a\nb\nc", view.Wanted.Values["key"], "a secret that is left empty is kept")
	page = b.get(at + "/configuration")
	got = b.post(at+"/configuration", page.fill(t, clusterForm, parameter("ca"), "no certificate", clusters.FieldAction, clusters.ActionInstall))
	require.Contains(t, got.Find("[id='f-"+parameter("ca")+"-problem']").Text(), "Does not match")
	require.Equal(t, "no certificate", got.Find("textarea[name='"+parameter("ca")+"']").Text())
}

func TestATextOfSeveralLinesInTheBuilder(t *testing.T) {
	t.Parallel()
	w := builderOf(t, certificateParameters)
	for _, at := range []string{"0", "1"} {
		w.act(builder.ActOpen + ":" + at)
		_, on := w.at.Find("[name='params.multiline']").Attr("checked")
		require.True(t, on)
		w.act(builder.ActApply + ":" + at)
		require.Equal(t, certificateParameters, w.text())
	}
	require.Contains(t, w.at.Find(".brick").Eq(1).Text(), "several lines")
	w.act("open:0")
	w.act("apply:0", "params.default", "-----BEGIN-----\r\nx\r\n-----END-----\r\n")
	require.Contains(t, w.text(), "  default: |\n    -----BEGIN-----\n    x\n    -----END-----\n")
	require.Contains(t, w.text(), "# what machines trust\n")
}
