package web

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/store/storetest"
	"commander/views/paths"
	"commander/web/api"
)

// TestAFrozenDatabaseIsSaidOnEveryPage: the database takes every question and answers none. No
// address may wait for it as long as the browser does, nor call it a fault of ours.
func TestAFrozenDatabaseIsSaidOnEveryPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	admin := s.as("ada", store.RoleFull)
	_, token, err := s.CreateToken(t.Context(), fleet.System, s.workspace.ID, "away", store.RoleFull, 0)
	require.NoError(t, err)
	through, relay := storetest.Through(t, s.Store)
	s.Store = through
	s.deps.API, s.deps.Patience, s.deps.Metrics = api.New(s.Fleet, s.deps.Log), 200*time.Millisecond, nil
	s.handler, err = New(s.deps)
	require.NoError(t, err)
	// While the database answers so do the pages, though a busy machine may need more than one try.
	works := func() bool { return admin.get(paths.Start()).StatusCode == http.StatusOK }
	require.Eventually(t, works, time.Minute, time.Millisecond)

	relay.Freeze()
	var asked sync.WaitGroup
	ask := func(what string, do func() answer) {
		asked.Go(func() {
			if got := do(); got.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s: got %d %s", what, got.StatusCode, got.text)
			}
		})
	}
	for _, r := range (&server{Deps: s.deps}).routes() {
		if r.permission == fleet.Public {
			continue
		}
		at := s.at(r.pattern, cluster.ID.String())
		ask(r.method+" "+r.pattern, func() answer {
			if r.method == http.MethodPost {
				return admin.post(at, url.Values{"name": {"x"}})
			}
			return admin.get(at)
		})
	}
	for _, path := range []string{"/clusters", "/cluster_templates", "/clusters/" + cluster.ID.String()} {
		ask("API "+path, func() answer {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+paths.RouteAPI+path, nil)
			if err != nil {
				t.Error(err)
			}
			got := s.nobody().do(r, api.TokenHeader, token)
			if !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
				t.Errorf("API %s answers %s", path, got.Header.Get("Content-Type"))
			}
			return got
		})
	}
	asked.Wait()
	relay.Thaw()
	require.Eventually(t, works, time.Minute, time.Millisecond, "the database is back")
}
