package web

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

// TestListsOfOneThingAreSearchedSortedAndPagedToo asks the lists on the pages of a template, of a
// cluster, of a move and of the automation for what their addresses can say.
func TestListsOfOneThingAreSearchedSortedAndPagedToo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.deps.Console.PageSize = 2
	b := s.as("olga", store.RoleFull)
	ctx := t.Context()
	template, versions := s.crew(crewOne, crewOne+"- {key: two, title: Two, type: string, optional: true}\n", crewTwo)
	var made []store.Cluster
	for i, name := range []string{"alpha", "beta", "gamma"} {
		made = append(made, s.on(versions[i], name, nil))
	}
	require.NoError(t, s.ChangeTemplateVersion(ctx, fleet.System, template.ID, 2, fleet.VersionChange{Comment: new("beta of it"), Available: new(false)}))
	one := made[0]
	for i, who := range []string{"beta@corp", "carol@corp"} {
		actor := fleet.System
		actor.Name = who
		cluster, err := s.Store.Cluster(ctx, one.ID)
		require.NoError(t, err)
		_, task, err := s.ChangeCluster(ctx, actor, one.ID, fleet.ClusterChange{
			Revision: cluster.Revision, Name: cluster.Name, TemplateVersionID: versions[0].ID, Values: store.Values{"count": 5 + i}, Explicit: []string{"count"},
		})
		require.NoError(t, err)
		s.finish(*task, store.TaskSucceeded)
	}
	wanted, err := s.AgentConfiguration(ctx, one.ID)
	require.NoError(t, err)
	require.NoError(t, s.TakeReport(ctx, one.ID, fleet.AgentReport{AppliedETag: wanted.ETag, Nodes: store.AgentNodes{
		{Name: "gamma", CPUCores: 8, Ready: true}, {Name: "alpha", CPUCores: 2, Ready: true}, {Name: "beta", Group: "bet", CPUCores: 4},
	}, Objects: store.AgentObjects{
		{Kind: "Secret", Name: "alpha", State: "applied"}, {Kind: "ConfigMap", Name: "beta", State: "failed", Error: "no"}, {Kind: "Secret", Name: "gamma", State: "applied"},
	}}))
	move, err := s.SwitchClusters(ctx, fleet.System, fleet.SwitchPlan{VersionID: versions[2].ID, WaveSize: 1, Parallel: 1, Clusters: []fleet.SwitchTarget{
		{ID: made[0].ID, Revision: 3}, {ID: made[1].ID, Revision: 1}, {ID: made[2].ID, Revision: 1},
	}})
	require.NoError(t, err)
	for _, cluster := range made {
		_, err := s.AddWindow(ctx, fleet.System, s.workspace.ID, fleet.NewWindow{ClusterID: &cluster.ID, Days: 1, Starts: 60, Minutes: 60, TimeZone: "UTC"})
		require.NoError(t, err)
	}

	tid, cid := template.ID.String(), one.ID.String()
	lists := []struct {
		address, column, row string
		order                []string // of all rows by the column
		text                 string
		found                []string
	}{
		{paths.Template("demo", tid), "version", "th .name", []string{"Version 1", "Version 2", "Version 3"}, "BETA", []string{"Version 2"}},
		{paths.TemplateClusters("demo", tid, paths.Query{}), "version", "th .name", []string{"alpha", "beta", "gamma"}, "bet", []string{"beta"}},
		{paths.TemplateClusters("demo", tid, paths.Query{}), "name", "th .name", []string{"alpha", "beta", "gamma"}, "bet", []string{"beta"}},
		{paths.ClusterHistory(cid), "revision", "th .name", []string{"Revision 1", "Revision 2", "Revision 3"}, "Beta@", []string{"Revision 2"}},
		{paths.ClusterTasks(cid), "created", "td[data-p='3']", []string{"Commander", "beta@corp", "carol@corp"}, "BETA", []string{"beta@corp"}},
		{paths.ClusterKubernetes(cid), "name", "th .name", []string{"alpha", "beta", "gamma"}, "map", []string{"beta"}},
		{paths.ClusterNodes(cid), "name", "th .name", []string{"alpha", "beta", "gamma"}, "bet", []string{"beta"}},
		{paths.ClusterNodes(cid), "cpu", "th .name", []string{"alpha", "beta", "gamma"}, "bet", []string{"beta"}},
		{paths.Move(move.ID.String()), "wave", "th .name", []string{"alpha", "beta", "gamma"}, "bet", []string{"beta"}},
		{paths.Move(move.ID.String()), "name", "th .name", []string{"alpha", "beta", "gamma"}, "bet", []string{"beta"}},
		{paths.Automation("demo"), "cluster", "td[data-p='2']", []string{"alpha", "beta", "gamma"}, "bet", []string{"beta"}},
	}
	for _, list := range lists {
		shown := func(q paths.Query) (rows []string) {
			for _, cell := range b.get(paths.Asked(list.address, q)).Find("#list tbody tr " + list.row).EachIter() {
				rows = append(rows, strings.TrimSpace(cell.Text()))
			}
			return rows
		}
		at := list.address + " by " + list.column
		require.Equal(t, list.order[:2], shown(paths.Query{Sort: list.column}), at)
		require.Equal(t, list.order[2:], shown(paths.Query{Sort: list.column, Page: 2}), at)
		backwards := slices.Clone(list.order)
		slices.Reverse(backwards)
		require.Equal(t, backwards[:2], shown(paths.Query{Sort: list.column, Descending: true}), at)
		require.Equal(t, list.found, shown(paths.Query{Text: list.text}), at)
		require.NotEmpty(t, shown(paths.Query{Sort: "nonsense", Status: "nonsense"}), "an old bookmark opens "+at)
		page := b.get(paths.Asked(list.address, paths.Query{Sort: list.column, Descending: true}))
		require.Equal(t, 1, page.Find(`#list th[aria-sort=descending]`).Length(), at)
		require.Equal(t, 1, page.Find("#list .pages a[rel=next]").Length(), at)
		none := b.get(paths.Asked(list.address, paths.Query{Text: "no-such"}))
		require.Equal(t, list.address, none.Find("#list .empty a").AttrOr("href", ""), "what is not found can be cleared on "+at)
	}

	views := map[string][]string{
		paths.Asked(paths.Template("demo", tid), paths.Query{Status: "withdrawn"}):  {"Version 2"},
		paths.Asked(paths.ClusterKubernetes(cid), paths.Query{Status: "failed"}):    {"beta"},
		paths.Asked(paths.ClusterTasks(cid), paths.Query{Status: "failed"}):         nil,
		paths.Asked(paths.TemplateMoves("demo", tid), paths.Query{Text: "nobody"}):  nil,
		paths.Asked(paths.TemplateMoves("demo", tid), paths.Query{Text: "command"}): {"Switch to version 3"},
	}
	for address, want := range views {
		var rows []string
		for _, name := range b.get(address).Find("#list tbody th .name").EachIter() {
			rows = append(rows, name.Text())
		}
		require.Equal(t, want, rows, address)
	}
	require.Contains(t, b.get(paths.ClusterHistory(cid)).Find("#list tbody tr").First().Text(), "Workers", "what a configuration changed is told on every page of the history")
}
