package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/views/clusters"
	"commander/views/paths"
	"commander/web/session"
)

// signIn goes to the issuer and back, as the issuer's person.
func signIn(t *testing.T, b *browser) {
	t.Helper()
	keep := b.client.CheckRedirect
	b.client.CheckRedirect = nil
	got := b.get(paths.Login(paths.Settings()))
	b.client.CheckRedirect = keep
	require.Equal(t, http.StatusOK, got.StatusCode, got.text)
	require.Equal(t, paths.Settings(), got.Request.URL.Path)
}

func TestFirstAdministratorSignsInAndOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.nobody()
	signIn(t, b)
	start := b.get(paths.Start())
	require.Equal(t, http.StatusOK, start.StatusCode)
	require.Contains(t, start.Find("main tbody").Text(), "Demo")
	require.Contains(t, start.Find("main tbody").Text(), "Full access")

	got := b.get(paths.SignIn("/tasks/1"))
	require.Equal(t, "/tasks/1", got.Header.Get("Location"), "who is signed in is led on")

	got = b.post(paths.Logout(), nil)
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	got = b.get(paths.Start())
	require.Equal(t, paths.SignIn(""), got.Header.Get("Location"))
}

func TestEndedSessionIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	u, err := url.Parse(s.server.URL)
	require.NoError(t, err)
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == session.Cookie {
			require.NoError(t, s.SignOut(t.Context(), c.Value))
		}
	}
	got := b.get(paths.Clusters("demo"))
	require.Equal(t, paths.SignInAfter(paths.SignInExpired, paths.Clusters("demo")), got.Header.Get("Location"))
	require.Contains(t, b.get(got.Header.Get("Location")).Text(), "Your session has ended")
}

func TestPagesAreStrict(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	got := s.as("ann", store.RoleFull).get(paths.Clusters("demo"))
	require.Equal(t, http.StatusOK, got.StatusCode)
	csp := got.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'self'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"} {
		require.Contains(t, csp, want)
	}
	require.NotContains(t, csp, "unsafe")
	require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
	require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
	require.NotEmpty(t, got.Header.Get("X-Request-Id"))
	require.Zero(t, got.Find("[style], style, script:not([src]), [onclick]").Length(), "the policy would block it")
}

func TestOtherSitesCannotSendForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.cluster("prod", nil)
	b := s.as("ann", store.RoleFull)
	archive := paths.ClusterArchive(cluster.ID.String())
	for name, headers := range map[string][]string{
		"by fetch metadata": {"Sec-Fetch-Site", "cross-site"},
		"by origin":         {"Origin", "https://evil.example"},
	} {
		got := b.post(archive, nil, headers...)
		require.Equal(t, http.StatusForbidden, got.StatusCode, name)
		require.Contains(t, got.Find("h1").Text(), "You may not do this")
	}
	got := b.post(archive, url.Values{clusters.FieldArchived: {"prod"}}, "Sec-Fetch-Site", "same-origin", "Origin", s.server.URL)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.text)
}

func TestLargeFormsAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	got := b.post(paths.Clusters("demo"), url.Values{"name": {string(make([]byte, 2<<20))}})
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
}

func TestSettingsFollowThePerson(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	got := b.post(paths.Settings(), url.Values{"locale": {"ru"}, "theme": {"dark"}, "density": {"compact"}})
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "ru", got.Find("html").AttrOr("lang", ""), "at once")

	got = b.post(paths.Settings(), url.Values{"theme": {"light"}, "return": {paths.Clusters("demo")}})
	require.Equal(t, paths.Clusters("demo"), got.Header.Get("Location"))
	got = b.get(paths.Clusters("demo"), "Accept-Language", "en")
	html := got.Find("html")
	require.Equal(t, "ru", html.AttrOr("lang", ""))
	require.Equal(t, "light", html.AttrOr("data-theme", ""))
	require.Equal(t, "compact", html.AttrOr("data-density", ""), "what the menu does not send stays")

	require.Equal(t, http.StatusUnprocessableEntity, b.post(paths.Settings(), url.Values{"theme": {"<b>"}}).StatusCode)
}

func TestTokenIsShownOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	got := b.post(paths.Tokens("demo"), url.Values{"name": {"ci"}, "role": {"read"}, "days": {"0"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Equal(t, "ci", got.Find("[name=name]").AttrOr("value", ""))
	require.Equal(t, "true", got.Find("[name=days]").AttrOr("aria-invalid", ""))

	got = b.post(paths.Tokens("demo"), url.Values{"name": {"ci"}, "role": {"read"}, "days": {""}})
	require.Equal(t, http.StatusOK, got.StatusCode, got.text)
	secret := got.Find(".command pre").Text()
	actor, workspace, err := s.TokenActor(t.Context(), secret)
	require.NoError(t, err)
	require.Equal(t, "demo", workspace.Slug)
	require.Equal(t, store.RoleReadOnly, actor.Role(workspace.ID))

	again := b.get(paths.Tokens("demo"))
	require.NotContains(t, again.text, secret)
	action, _ := again.Find("main table form").Attr("action")
	require.Equal(t, http.StatusSeeOther, b.post(action, nil).StatusCode)
	_, _, err = s.TokenActor(t.Context(), secret)
	require.Error(t, err)
}

func TestUnknownAddressIsAPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	got := s.nobody().get("/no/such/page")
	require.Equal(t, http.StatusNotFound, got.StatusCode)
	require.Equal(t, "Not found", got.Find("h1").Text())
}
