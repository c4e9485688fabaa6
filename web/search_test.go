package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

func TestAPersonFindsWhatTheyMaySeeAndDo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	prod := s.cluster("pay-prod", nil)
	foreign, err := s.EnsureWorkspace(t.Context(), "foreign", "Foreign")
	require.NoError(t, err)
	_, _, err = s.CreateCluster(t.Context(), fleet.System, fleet.NewCluster{WorkspaceID: foreign.ID, Name: "pay-elsewhere", TemplateVersionID: s.versionIn(foreign)})
	require.NoError(t, err)
	reader := s.as("rita", store.RoleReadOnly)

	got := reader.get(paths.Search("demo") + "&q=PAY")
	require.Equal(t, 1, got.Find("main a[href='"+paths.Cluster(prod.ID.String())+"']").Length())
	require.NotContains(t, got.Find("main").Text(), "elsewhere")
	got = reader.get(paths.Search("demo")+"&q=pay", "HX-Request", "true")
	require.Equal(t, "pay-prod", got.Find("#palette-list [role=option] .clip").First().Text())
	require.Zero(t, got.Find("html #main").Length(), "a script gets the list alone")
	require.Zero(t, reader.get(paths.Search("demo")+"&q=%25", "HX-Request", "true").Find("[role=option]").Length(), "a text stands for itself")
	require.Equal(t, 1, reader.get(paths.Search("demo")+"&q=lab").Find("main a[href='"+paths.Template("demo", s.template.ClusterTemplate.ID.String())+"']").Length())

	create := "[href='" + paths.NewCluster("demo", "") + "'][role=option]"
	require.Zero(t, reader.get(paths.Search("demo"), "HX-Request", "true").Find(create).Length())
	require.Equal(t, 1, s.as("eve", store.RoleFull).get(paths.Search("demo"), "HX-Request", "true").Find(create).Length())
	require.Zero(t, reader.get(paths.Search("foreign"), "HX-Request", "true").Find("[href*='foreign']").Length())
	require.Equal(t, 1, s.everywhere("olga").get(paths.Search("")+"?q=elsewhere").Find("main .hits a").Length())
}
