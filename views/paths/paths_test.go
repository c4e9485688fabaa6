package paths_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/views/paths"
)

func TestFunctionsFillTheirRoutes(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/workspaces/pay%2Fments/clusters", paths.Clusters("pay/ments"))
	require.Equal(t, "/workspaces/a/tokens/b/deletion", paths.TokenDeletion("a", "b"))
	require.Equal(t, "/clusters/42/configuration/preview", paths.ClusterPreview("42"))
	require.Equal(t, "/workspaces/a/clusters/new", paths.NewCluster("a", ""))
	require.Equal(t, "/workspaces/a/clusters/new?template=t1", paths.NewCluster("a", "t1"))
	require.Equal(t, "/sign-in?return=%2Fclusters%2F1%3Fq%3Dx", paths.SignIn("/clusters/1?q=x"))
	require.Equal(t, "/assets/app.js", paths.Asset("app.js"))
}

func TestQuerySurvivesItsURL(t *testing.T) {
	t.Parallel()
	for _, q := range []paths.Query{
		{},
		{Text: "prod & stage", Status: "attention", Sort: "name", Descending: true, Page: 3},
		{Sort: "nodes"},
	} {
		u, err := url.Parse(paths.ClusterList("a", q))
		require.NoError(t, err)
		require.Equal(t, q, paths.ParseQuery(u.Query()))
	}
	require.Equal(t, paths.Query{}, paths.ParseQuery(url.Values{"page": {"-4"}}))
}

func TestSortingTurnsAroundAndStartsAtTheFirstPage(t *testing.T) {
	t.Parallel()
	q := paths.Query{Page: 4}.SortedBy("name")
	require.Equal(t, paths.Query{Sort: "name"}, q)
	require.Equal(t, paths.Query{Sort: "name", Descending: true}, q.SortedBy("name"))
	require.Equal(t, paths.Query{Sort: "nodes"}, q.SortedBy("nodes"))
}

func TestLiveSurvivesItsURL(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(paths.Live(17, paths.TopicTask("1"), paths.TopicClusters("w")))
	require.NoError(t, err)
	since, topics := paths.ParseLive(u.Query())
	require.Equal(t, int64(17), since)
	require.Equal(t, []string{"task:1", "workspace:w:clusters"}, topics)
}
