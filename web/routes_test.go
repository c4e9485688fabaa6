package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

func TestEveryRouteDeclaresItsPermission(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	srv := &server{Deps: s.deps}
	known := []fleet.Permission{
		fleet.Public, fleet.SignedIn, fleet.WorkspacesView, fleet.WorkspacesEdit, fleet.ClustersView, fleet.ClustersEdit,
		fleet.ClustersConnect, fleet.TasksView, fleet.TasksEdit, fleet.TemplatesView, fleet.TemplatesEdit, fleet.TokensView, fleet.TokensEdit,
		fleet.InventoryView, fleet.InventoryEdit, fleet.RegistriesView, fleet.RegistriesEdit,
	}
	declared := map[string]fleet.Permission{}
	for _, r := range srv.routes() {
		declared[r.method+" "+r.pattern] = r.permission
	}
	walked := 0
	require.NoError(t, chi.Walk(srv.browser(), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		walked++
		require.Contains(t, known, declared[method+" "+pattern], "%s %s", method, pattern)
		// Looking never needs more than the read-only role has, except for forms that only lead to a change.
		if method != http.MethodGet && declared[method+" "+pattern] != fleet.ClustersConnect && declared[method+" "+pattern] != fleet.SignedIn {
			require.False(t, fleet.May(store.RoleReadOnly, declared[method+" "+pattern]), "%s %s changes something", method, pattern)
		}
		return nil
	}))
	require.Equal(t, len(declared), walked)
}

var named1 = regexp.MustCompile(`\{[a-z]+\}`)

// at fills a route in for the site's workspace and for some id.
func (s *site) at(pattern, id string) string {
	return named1.ReplaceAllString(strings.NewReplacer("{slug}", s.workspace.Slug, "{number}", "1").Replace(pattern), id)
}

func TestReadersChangeNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	tasks, err := s.Store.TasksOfCluster(t.Context(), store.TasksOfClusterParams{ClusterID: cluster.ID, PageSize: 1})
	require.NoError(t, err)
	registry, err := s.CreateRegistry(t.Context(), fleet.System, s.workspace.ID, fleet.RegistryBody{Name: "Main", ImagesRepo: "registry.invalid/platform"})
	require.NoError(t, err)
	catalog, err := s.CreateCatalog(t.Context(), fleet.System, s.workspace.ID, fleet.NewCatalog{Name: "Hosts", Slug: "hosts", Params: []byte(`[{"key": "a", "type": "string", "title": "A"}]`)})
	require.NoError(t, err)
	record, err := s.CreateRecord(t.Context(), fleet.System, catalog.ID, store.Values{"a": "x"})
	require.NoError(t, err)
	moved, err := s.SwitchClusters(t.Context(), fleet.System, fleet.SwitchPlan{
		VersionID: *s.template.ClusterTemplate.CurrentVersionID, Clusters: []fleet.SwitchTarget{{ID: cluster.ID, Revision: cluster.Revision}}, WaveSize: 1, Parallel: 1,
	})
	require.NoError(t, err)
	ids := map[string]uuid.UUID{
		paths.RouteMove: moved.ID,
		paths.RouteTask: tasks[0].ID, paths.RouteRegistry: registry.ID, paths.RouteCatalog: catalog.ID, paths.RouteRecord: record.ID,
		paths.RouteTemplate: s.template.ClusterTemplate.ID,
	}
	reader := s.as("rita", store.RoleReadOnly)
	for _, r := range (&server{Deps: s.deps}).routes() {
		if r.permission == fleet.SignedIn || r.permission == fleet.Public {
			continue
		}
		id := cluster.ID.String()
		for prefix, other := range ids {
			if strings.HasPrefix(r.pattern, prefix) {
				id = other.String()
			}
		}
		want := http.StatusOK
		if !fleet.May(store.RoleReadOnly, r.permission) {
			want = http.StatusForbidden
		}
		if r.pattern == paths.RouteTaskReview || r.pattern == paths.RouteTaskTrouble {
			want = http.StatusSeeOther // nothing waits for a decision, and no line tells of an error
		}
		var got answer
		if r.method == http.MethodPost {
			got = reader.post(s.at(r.pattern, id), url.Values{"name": {"prod"}})
		} else {
			got = reader.get(s.at(r.pattern, id))
		}
		require.Equal(t, want, got.StatusCode, "%s %s", r.method, r.pattern)
	}
	after, err := s.Store.Cluster(t.Context(), cluster.ID)
	require.NoError(t, err)
	require.Equal(t, cluster.Revision, after.Revision)
	require.Nil(t, after.ArchivedAt)
}

func TestUnknownAndForeignAreAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	tasks, err := s.Store.TasksOfCluster(t.Context(), store.TasksOfClusterParams{ClusterID: cluster.ID, PageSize: 1})
	require.NoError(t, err)
	elsewhere, err := s.EnsureWorkspace(t.Context(), "elsewhere", "")
	require.NoError(t, err)
	home := s.workspace
	s.workspace = elsewhere
	stranger := s.as("sam", store.RoleFull)
	s.workspace = home
	for _, r := range (&server{Deps: s.deps}).routes() {
		if !strings.Contains(r.pattern, "{") {
			continue
		}
		id := cluster.ID.String()
		if strings.HasPrefix(r.pattern, paths.RouteTask) {
			id = tasks[0].ID.String()
		}
		foreign, unknown := s.at(r.pattern, id), s.at(r.pattern, anyID())
		if strings.Contains(r.pattern, "{slug}") {
			unknown = strings.Replace(foreign, "/demo/", "/no-such/", 1)
		}
		ask := stranger.get
		if r.method == http.MethodPost {
			ask = func(path string, headers ...string) answer { return stranger.post(path, url.Values{}, headers...) }
		}
		a, b := ask(foreign), ask(unknown)
		require.Equal(t, http.StatusNotFound, a.StatusCode, foreign)
		require.Equal(t, http.StatusNotFound, b.StatusCode, unknown)
		require.Equal(t, a.Find("h1").Text(), b.Find("h1").Text())
	}
}

func TestWithoutASession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	nobody := s.nobody()

	got := nobody.get("/workspaces/demo/clusters?q=a")
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	require.Equal(t, paths.SignIn("/workspaces/demo/clusters?q=a"), got.Header.Get("Location"))

	got = nobody.get("/workspaces/demo/clusters?q=a", "HX-Request", "true", "HX-Current-URL", s.server.URL+"/workspaces/demo/clusters")
	require.Equal(t, http.StatusUnauthorized, got.StatusCode)
	require.Equal(t, paths.SignIn("/workspaces/demo/clusters"), got.Header.Get("HX-Redirect"))

	got = nobody.get(paths.SignIn("/tasks/1"))
	require.Equal(t, http.StatusOK, got.StatusCode)
	href, _ := got.Find("main a.btn").Attr("href")
	require.Equal(t, paths.Login("/tasks/1"), href)
}

func TestWithoutARole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	person := s.as("new", "")
	for _, path := range []string{paths.Start(), paths.Clusters("demo")} {
		got := person.get(path)
		require.Equal(t, http.StatusForbidden, got.StatusCode)
		require.Contains(t, got.Find("dl").Text(), "new", "an administrator needs the identifier")
	}
}
