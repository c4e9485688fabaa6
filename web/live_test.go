package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
	"commander/web/console"
	"commander/web/live"
	"commander/web/respond"
	"commander/web/session"
)

// withLive puts a hub before the site's pages that hears what this process changes.
func (s *site) withLive() *live.Hub {
	s.t.Helper()
	hub := live.New(live.Options{
		Person: s.deps.Sessions.Again, Viewer: session.Viewer, Renderer: s.deps.Console, Log: s.Log, MaxTopics: console.MaxTopics,
	})
	s.deps.Live, s.deps.Metrics = hub, nil
	handler, err := New(s.deps)
	require.NoError(s.t, err)
	s.handler = handler
	return hub
}

// socket opens the socket of a page, which reads one message after the other.
func (b *browser) socket(page answer) *websocket.Conn {
	b.t.Helper()
	address, there := page.Find("[ws-connect]").Attr("ws-connect")
	require.True(b.t, there)
	header := http.Header{"Origin": {b.server.URL}}
	u, err := url.Parse(b.server.URL)
	require.NoError(b.t, err)
	for _, c := range b.client.Jar.Cookies(u) {
		header.Add("Cookie", c.String())
	}
	dialer := websocket.Dialer{TLSClientConfig: b.client.Transport.(*http.Transport).TLSClientConfig}
	conn, answer, err := dialer.DialContext(b.t.Context(), "wss"+strings.TrimPrefix(b.server.URL, "https")+address, header)
	require.NoError(b.t, err)
	_ = answer.Body.Close()
	b.t.Cleanup(func() { _ = conn.Close() })
	// Long enough for a busy machine; only a test that fails waits for it.
	require.NoError(b.t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	return conn
}

// await reads messages until one satisfies.
func await(t *testing.T, conn *websocket.Conn, want func(message string) bool) string {
	t.Helper()
	for {
		_, message, err := conn.ReadMessage()
		require.NoError(t, err)
		if want(string(message)) {
			return string(message)
		}
	}
}

func holds(parts ...string) func(string) bool {
	return func(message string) bool {
		for _, part := range parts {
			if !strings.Contains(message, part) {
				return false
			}
		}
		return true
	}
}

func TestTaskPageFollowsItsTask(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hub := s.withLive()
	task, d := s.running("prod")
	require.NoError(t, s.AppendLog(t.Context(), d, 1, []string{"line one"}))
	b := s.as("ann", store.RoleFull)
	require.NoError(t, s.SetPreferences(t.Context(), s.idOf("ann"), fleet.Preferences{Language: "ru"}))
	conn := b.socket(b.get(paths.Task(task.ID.String())))
	first := await(t, conn, holds("task-"+task.ID.String()+"-chip"))
	require.Contains(t, first, "Выполняется", "in the language of whoever looks")

	require.NoError(t, s.AppendLog(t.Context(), d, 2, []string{"line two"}))
	hub.Heard(store.TaskTopic(task.ID))
	chunk := await(t, conn, holds("hx-swap-oob", "beforeend"))
	require.Contains(t, chunk, "line two")
	require.NotContains(t, chunk, "line one", "the page has it already")

	require.NoError(t, s.Finish(t.Context(), d, fleet.Ending{Status: store.TaskSucceeded}))
	hub.Heard(store.TaskTopic(task.ID))
	await(t, conn, holds("task-"+task.ID.String()+"-chip", "Выполнена"))
}

func TestSocketEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hub := s.withLive()
	task, _ := s.running("prod")
	b := s.as("ann", store.RoleFull)
	page := b.get(paths.Task(task.ID.String()))
	conn := b.socket(page)
	await(t, conn, holds("count-tasks")) // the last message of a drawing
	require.Equal(t, http.StatusSeeOther, b.post(paths.Logout(), nil).StatusCode)
	hub.Heard(store.TaskTopic(task.ID))
	for _, socket := range []*websocket.Conn{conn, s.nobody().socket(page)} {
		_, message, err := socket.ReadMessage()
		require.True(t, websocket.IsCloseError(err, websocket.ClosePolicyViolation), "%v %s", err, message)
	}
}

func TestListFollowsItsClusters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hub := s.withLive()
	prod := s.cluster("prod", nil)
	b := s.as("ann", store.RoleFull)
	conn := b.socket(b.get(paths.Clusters("demo")))
	await(t, conn, holds("cluster-"+prod.ID.String()+"-row", "New"))
	_, err := s.InstallCluster(t.Context(), fleet.System, prod.ID)
	require.NoError(t, err)
	hub.Heard(store.ClusterTopic(prod.ID), store.WorkspaceClustersTopic(s.workspace.ID))
	await(t, conn, holds("cluster-"+prod.ID.String()+"-row", "Install"))

	_, err = s.ArchiveCluster(t.Context(), fleet.System, prod.ID)
	require.NoError(t, err)
	hub.Heard(store.ClusterTopic(prod.ID))
	await(t, conn, holds("cluster-"+prod.ID.String()+"-row", "delete"))
}

// render draws a topic for a person and gives each message as a document.
func (s *site) render(subject, topic string, cursor int64) ([]*goquery.Document, int64, error) {
	s.t.Helper()
	person, err := s.deps.Sessions.Of(s.as(subject, "").request())
	require.NoError(s.t, err)
	components, next, err := s.deps.Console.Render(s.t.Context(), person, topic, cursor)
	var out []*goquery.Document
	for _, c := range components {
		var text strings.Builder
		require.NoError(s.t, c.Render(s.t.Context(), &text))
		document, err := goquery.NewDocumentFromReader(strings.NewReader("<table>" + text.String() + "</table>"))
		require.NoError(s.t, err)
		out = append(out, document)
	}
	return out, next, err
}

// request is one of the browser's, with its cookies.
func (b *browser) request() *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.server.URL, nil)
	require.NoError(b.t, err)
	for _, c := range b.client.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	return r
}

// ids are those of the outermost elements of messages.
func ids(documents []*goquery.Document) string {
	var all []string
	for _, d := range documents {
		all = append(all, d.Find("[id]").First().AttrOr("id", ""))
	}
	return strings.Join(all, " ")
}

func TestPagesAreSentWhatTheyHaveRoomFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	prod := s.installed("prod")
	s.as("ann", store.RoleFull)
	topic := store.ClusterTopic(prod.ID)
	c := "cluster-" + prod.ID.String()
	tasks, err := s.Store.TasksOfCluster(t.Context(), store.TasksOfClusterParams{ClusterID: prod.ID, PageSize: 1})
	require.NoError(t, err)
	for cursor, want := range map[int64][]string{
		0:          {c + "-chips", c + "-next", c + "-drift", c + "-totals", c + "-nodes", c + "-tasks", c + "-facts"},
		1:          {c + "-chips", c + "-next"},
		2:          {c + "-chips", c + "-next", c + "-objects", c + "-objects-state"},
		3:          {c + "-chips", c + "-next", "task-" + tasks[0].ID.String() + "-row", c + "-newest-task"},
		4:          {c + "-chips", c + "-next", c + "-nodes-state"},
		1700000000: {c + "-row"},
	} {
		documents, next, err := s.render("ann", topic, cursor)
		require.NoError(t, err)
		require.Equal(t, strings.Join(want, " "), ids(documents))
		require.Equal(t, cursor, next)
	}
}

func TestNewClustersAreAnnounced(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as("ann", store.RoleFull)
	before := time.Now().Add(-time.Hour).UnixMilli()
	s.cluster("a", nil)
	s.cluster("b", nil)
	documents, _, err := s.render("ann", store.WorkspaceClustersTopic(s.workspace.ID), before)
	require.NoError(t, err)
	require.Equal(t, "count-clusters count-tasks clusters-new clusters-total filter-all filter-attention filter-busy filter-ready filter-new", ids(documents))
	require.Equal(t, "2", strings.TrimSpace(documents[3].Text()), "all of them, beside the title")
	require.Equal(t, "Show 2 new clusters", strings.TrimSpace(documents[2].Text()))
	documents, _, err = s.render("ann", store.WorkspaceClustersTopic(s.workspace.ID), time.Now().Add(time.Hour).UnixMilli())
	require.NoError(t, err)
	require.Empty(t, strings.TrimSpace(documents[2].Text()))
}

// TestNewTasksAppear looks at both lists of tasks: a cluster's own fetches a new one, and the
// workspace's offers it and counts it.
func TestNewTasksAppear(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	prod := s.installed("prod")
	s.as("ann", store.RoleFull)
	drawn := time.Now().Add(-time.Millisecond) // cursors are in whole milliseconds
	task, err := s.Converge(t.Context(), fleet.System, prod.ID)
	require.NoError(t, err)

	documents, _, err := s.render("ann", store.ClusterTopic(prod.ID), 3)
	require.NoError(t, err)
	require.Equal(t, task.ID.String(), documents[len(documents)-1].Find("[data-fresh]").AttrOr("data-fresh", ""), "the list asks for itself again")

	documents, cursor, err := s.render("ann", store.WorkspaceTasksTopic(s.workspace.ID), drawn.UnixMilli())
	require.NoError(t, err)
	require.Equal(t, drawn.UnixMilli(), cursor, "a page that was away is told again")
	require.Contains(t, ids(documents), "task-"+task.ID.String()+"-row")
	require.Equal(t, "Show 1 new task", strings.TrimSpace(documents[len(documents)-1].Text()))
	for _, d := range documents {
		if d.Find("#filter-running").Length() > 0 {
			require.Equal(t, "1", strings.TrimSpace(d.Text()))
		}
	}
}

func TestNothingOfOthersIsDrawn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	prod := s.installed("prod")
	tasks, err := s.Store.TasksOfCluster(t.Context(), store.TasksOfClusterParams{ClusterID: prod.ID, PageSize: 1})
	require.NoError(t, err)
	s.as("sam", "")
	for _, topic := range []string{
		store.ClusterTopic(prod.ID), store.TaskTopic(tasks[0].ID), store.WorkspaceClustersTopic(s.workspace.ID),
		store.WorkspaceTasksTopic(s.workspace.ID), "cluster:x", "secrets:" + prod.ID.String(), store.ClusterTopic(s.workspace.ID),
	} {
		for _, cursor := range []int64{0, 1, 1700000000} {
			documents, _, err := s.render("sam", topic, cursor)
			require.Error(t, err, topic)
			require.Equal(t, http.StatusNotFound, respond.Status(err), topic)
			require.Empty(t, documents)
		}
	}
}
