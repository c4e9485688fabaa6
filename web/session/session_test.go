package session_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/internal/clock"
	"commander/internal/fault"
	"commander/store"
	"commander/views/layout"
	"commander/views/paths"
	"commander/web/respond"
	"commander/web/session"
	"commander/web/session/sessiontest"
)

// accounts keeps people in memory.
type accounts struct {
	mu       sync.Mutex
	sessions map[string]fleet.Identity
}

func (a *accounts) SignIn(_ context.Context, who fleet.Identity, _ string) (string, store.User, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	secret := store.NewSecret("cmds_")
	a.sessions[secret] = who
	return secret, store.User{ID: uuid.New()}, nil
}

func (a *accounts) PersonOf(_ context.Context, secret string) (fleet.Person, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	who, known := a.sessions[secret]
	if !known {
		return fleet.Person{}, fault.New(fault.Unauthenticated, "fault.session")
	}
	return fleet.Person{User: store.User{Subject: who.Subject, Issuer: who.Issuer, Email: who.Email}}, nil
}

func (a *accounts) SignOut(_ context.Context, secret string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, secret)
	return nil
}

func (a *accounts) open() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var subjects []string
	for _, who := range a.sessions {
		subjects = append(subjects, who.Subject)
	}
	return subjects
}

// site is a server with a sign-in and a browser before it.
type site struct {
	*accounts
	issuer  *sessiontest.Issuer
	clock   *clock.Fake
	server  *httptest.Server
	browser *http.Client
}

var ann = sessiontest.Person{Subject: "ann", Email: "ann@example.com", EmailVerified: true, Name: "Ann"}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{accounts: &accounts{sessions: map[string]fleet.Identity{}}, issuer: sessiontest.New(t, ann), clock: clock.At(time.Now())}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	mux := http.NewServeMux()
	s.server = httptest.NewTLSServer(mux)
	t.Cleanup(s.server.Close)
	keys, err := store.NewKeyring("k", map[string][]byte{"k": bytes.Repeat([]byte{1}, store.KeySize)})
	require.NoError(t, err)
	sessions, err := session.New(s.accounts, keys, s.clock, log, session.Config{
		Issuer: s.issuer.URL, ClientID: sessiontest.ClientID, ClientSecret: sessiontest.ClientSecret,
		RedirectURL: s.server.URL + paths.Callback(), CABundle: s.issuer.CABundle(),
	})
	require.NoError(t, err)
	edge := &respond.Edge{Log: log, Frame: func(*http.Request) layout.Frame { return layout.Frame{} }}
	mux.Handle("GET "+paths.RouteAuthLogin, edge.Page(sessions.Login))
	mux.Handle("GET "+paths.RouteAuthCallback, edge.Page(sessions.Callback))
	mux.Handle("POST "+paths.RouteAuthLogout, edge.Page(sessions.Logout))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		person, err := sessions.Of(r)
		if err != nil {
			w.WriteHeader(respond.Status(err))
			return
		}
		_, _ = io.WriteString(w, "hello "+person.Subject)
	})
	s.browser = s.newBrowser(t)
	return s
}

// newBrowser is a browser that trusts both servers and keeps cookies.
func (s *site) newBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	roots := s.server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs.Clone()
	roots.AddCert(s.issuer.Certificate())
	transport := s.server.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.RootCAs = roots
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Jar: jar}
}

// open follows an address to its end.
func (s *site) open(t *testing.T, path string) (where *url.URL, status int, body string) {
	t.Helper()
	answer, err := s.browser.Get(s.server.URL + path)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.Request.URL, answer.StatusCode, string(read)
}

func (s *site) cookie(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(s.server.URL)
	require.NoError(t, err)
	for _, c := range s.browser.Jar.Cookies(u) {
		if c.Name == session.Cookie {
			return c.Value
		}
	}
	return ""
}

func TestSignInLeadsBackToWhereThePersonWas(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	where, status, body := s.open(t, paths.Login("/clusters/1?tab=x"))
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "/clusters/1?tab=x", where.RequestURI())
	require.Equal(t, "hello ann", body)
	require.Equal(t, []string{"ann"}, s.accounts.open())
}

func TestReturnAddressesOfOtherSitesAreIgnored(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, back := range []string{"https://evil.example/", "//evil.example/", `/\evil.example`, "/\t/evil.example", "javascript:alert(1)"} {
		where, _, _ := s.open(t, paths.Login(back))
		require.Equal(t, s.server.URL+"/", where.String(), back)
	}
}

func TestCookieIsForThisHostAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := s.browser.Get(s.server.URL + paths.Login(""))
	require.NoError(t, err)
	_ = answer.Body.Close()
	require.Len(t, answer.Cookies(), 1)
	asked, err := answer.Location()
	require.NoError(t, err)
	require.Equal(t, "S256", asked.Query().Get("code_challenge_method"))
	require.NotContains(t, answer.Cookies()[0].Value, asked.Query().Get("state"), "the state of a sign-in is sealed")
	for _, c := range answer.Cookies() {
		require.True(t, strings.HasPrefix(c.Name, "__Host-"), c.Name)
		require.True(t, c.Secure && c.HttpOnly && c.Path == "/" && c.Domain == "" && c.SameSite == http.SameSiteLaxMode, c.String())
	}
}

func TestSessionChangesAtSignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.open(t, paths.Login(""))
	first := s.cookie(t)
	s.issuer.Is(sessiontest.Person{Subject: "bob"})
	s.open(t, paths.Login(""))
	require.NotEqual(t, first, s.cookie(t))
	require.Equal(t, []string{"bob"}, s.accounts.open(), "the browser's earlier session has ended")
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.open(t, paths.Login(""))
	answer, err := s.browser.Post(s.server.URL+paths.Logout(), "", nil)
	require.NoError(t, err)
	_ = answer.Body.Close()
	require.Equal(t, paths.SignInAfter(paths.SignInSignedOut, ""), answer.Request.URL.RequestURI())
	require.Empty(t, s.cookie(t))
	require.Empty(t, s.accounts.open())
}

func TestWhatProvesNothingIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*site){
		"another nonce":    func(s *site) { s.issuer.Claim("nonce", "guessed") },
		"another audience": func(s *site) { s.issuer.Claim("aud", "somebody") },
		"another issuer":   func(s *site) { s.issuer.Claim("iss", "https://evil.example") },
		"an old token":     func(s *site) { s.issuer.Claim("exp", time.Now().Add(-time.Hour).Unix()) },
		"a refusal":        func(s *site) { s.issuer.Refuse("access_denied") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			spoil(s)
			where, _, _ := s.open(t, paths.Login("/tasks/1"))
			require.Equal(t, paths.SignInAfter(paths.SignInFailed, "/tasks/1"), where.RequestURI())
			require.Empty(t, s.accounts.open())
			require.Empty(t, s.cookie(t))
		})
	}
}

// answerFor begins a sign-in and returns the address at which the issuer's answer would arrive.
func (s *site) answerFor(t *testing.T) string {
	t.Helper()
	var callback string
	s.browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == paths.RouteAuthCallback {
			callback = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}
	s.open(t, paths.Login(""))
	s.browser.CheckRedirect = nil
	require.NotEmpty(t, callback)
	return strings.TrimPrefix(callback, s.server.URL)
}

func TestAnswerCountsOnlyInTheBrowserThatAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answer := s.answerFor(t)
	s.browser = s.newBrowser(t)
	where, _, _ := s.open(t, answer)
	require.Equal(t, paths.RouteSignIn, where.Path)
	require.Empty(t, s.accounts.open())
}

func TestAnswerToAnotherQuestionIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stolen := s.answerFor(t)
	s.answerFor(t) // the browser now waits for the answer to this one
	where, _, _ := s.open(t, stolen)
	require.Equal(t, paths.RouteSignIn, where.Path)
	require.Empty(t, s.accounts.open())
}

func TestAnswerComesTooLate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answer := s.answerFor(t)
	s.clock.Advance(time.Hour)
	where, _, _ := s.open(t, answer)
	require.Equal(t, paths.RouteSignIn, where.Path)
	require.Empty(t, s.accounts.open())
}

func TestIssuerMayBeAwayAtTheStart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.issuer.Down(true)
	_, status, body := s.open(t, paths.Login(""))
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.NotContains(t, body, s.issuer.URL, "people are not told what happened below")
	s.issuer.Down(false)
	_, status, body = s.open(t, paths.Login(""))
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "hello ann", body)
}
