package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

// TestShippedTemplatesSpeakTheReadersLanguage reads the pages of a shipped template and its cluster in
// Russian, before and after a person has edited the template.
func TestShippedTemplatesSpeakTheReadersLanguage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	in := []string{"Accept-Language", "ru"}
	labels := func(address string) string { return b.get(address, in...).Find("main").Text() }
	template := s.template.ClusterTemplate.ID
	create := paths.NewCluster("demo", template.String())
	require.Contains(t, labels(create), "Подсеть подов")
	require.Contains(t, labels(create), "Удаление узлов сначала надо подтвердить.")
	require.Contains(t, labels(create), "Узлы")
	require.NotContains(t, labels(create), "Pod subnet")
	require.Contains(t, b.get(create).Find("main").Text(), "Pod subnet", "others read English")
	for _, address := range []string{paths.NewCluster("demo", ""), paths.Templates("demo"), paths.Template("demo", template.String())} {
		require.Contains(t, labels(address), "Настоящая управляющая плоскость", address)
	}
	cluster := s.installed("prod")
	id := cluster.ID.String()
	b.change(cluster, "5")
	require.Contains(t, labels(paths.ClusterConfiguration(id)), "Рабочие узлы")
	require.Contains(t, labels(paths.ClusterHistory(id)), "Рабочие узлы", "what was changed")

	_, versions, err := s.Fleet.Template(t.Context(), fleet.System, template)
	require.NoError(t, err)
	body := fleet.BodyOf(versions[0])
	body.ParamsText += "- key: team\n  type: string\n  title: Team\n  optional: true\n"
	edited, err := s.ChangeTemplate(t.Context(), fleet.System, template, fleet.TemplateChange{Revision: s.template.ClusterTemplate.CurrentRevision, Name: "Ours", Comment: "Of ours.", Body: &body})
	require.NoError(t, err)
	require.Contains(t, labels(create), "Подсеть подов", "what nobody has touched")
	require.Contains(t, labels(create), "Team")
	require.Contains(t, labels(paths.ClusterUpgrade(id, edited.CurrentVersionID.String())), "Рабочие узлы")
	require.Contains(t, labels(paths.Template("demo", template.String())), "Of ours.")
	require.Contains(t, b.get(paths.TemplateEdit("demo", template.String(), 0), in...).Find("textarea").Text(), "title: Pod subnet", "the text of the template is what is stored")
	require.NoError(t, s.EnsurePresets(t.Context()))
	after, err := s.Store.Template(t.Context(), template)
	require.NoError(t, err)
	require.Equal(t, edited.CurrentRevision, after.CurrentRevision, "and stays when the product starts again")
}
