package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/internal/clock"
	"commander/store"
	"commander/store/storetest"
	"commander/views/clusters"
	"commander/views/paths"
	"commander/web/console"
	"commander/web/session"
	"commander/web/session/sessiontest"
)

// deliveries counts jobs and does none of them.
type deliveries struct{ last atomic.Int64 }

func (d *deliveries) InsertTx(context.Context, pgx.Tx, river.JobArgs, *river.InsertOpts) (*rivertype.JobInsertResult, error) {
	return &rivertype.JobInsertResult{Job: &rivertype.JobRow{ID: d.last.Add(1)}}, nil
}

func (d *deliveries) InsertManyTx(_ context.Context, _ pgx.Tx, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error) {
	var all []*rivertype.JobInsertResult
	for range params {
		all = append(all, &rivertype.JobInsertResult{Job: &rivertype.JobRow{ID: d.last.Add(1)}})
	}
	return all, nil
}

// names stands in for the browser's files, which a test does not build.
type names struct{}

func (names) URL(name string) string { return "/assets/" + name }

const firstAdmin = "ann@example.com"

// site is the whole server over a database of its own.
type site struct {
	*fleet.Fleet
	t         *testing.T
	server    *httptest.Server
	issuer    *sessiontest.Issuer
	workspace store.Workspace
	template  store.TemplatesRow
	deps      Deps
	handler   http.Handler // set before the first request
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, issuer: sessiontest.New(t, sessiontest.Person{Subject: "ann", Email: firstAdmin, EmailVerified: true, Name: "Ann"})}
	s.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }))
	t.Cleanup(s.server.Close)

	db := storetest.New(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s.Fleet = &fleet.Fleet{
		Store: db, Queue: &deliveries{}, Clock: clock.System{}, Log: log,
		Settings: fleet.Settings{PublicURL: s.server.URL, CABundle: "-----BEGIN CERTIFICATE-----\n", FirstAdmin: firstAdmin},
	}
	var err error
	s.workspace, err = s.EnsureWorkspace(t.Context(), "demo", "Demo")
	require.NoError(t, err)
	templates, err := s.Templates(t.Context(), fleet.System, s.workspace.ID, false)
	require.NoError(t, err)
	s.template = templates[0]

	sessions, err := session.New(s.Fleet, db.Keys, s.Clock, log, session.Config{
		Issuer: s.issuer.URL, ClientID: sessiontest.ClientID, ClientSecret: sessiontest.ClientSecret,
		RedirectURL: s.server.URL + paths.Callback(), CABundle: s.issuer.CABundle(),
	})
	require.NoError(t, err)
	s.deps = Deps{
		Fleet: s.Fleet, Sessions: sessions, Console: &console.Console{Fleet: s.Fleet, Sessions: sessions, Assets: names{}},
		Log: log, Metrics: prometheus.NewRegistry(),
	}
	s.handler, err = New(s.deps)
	require.NoError(t, err)
	return s
}

// browser is a person before a browser. It follows no redirection: tests look at each answer.
type browser struct {
	*site
	client *http.Client
}

// nobody is a browser without a session.
func (s *site) nobody() *browser {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	transport := s.server.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.RootCAs.AddCert(s.issuer.Certificate())
	s.t.Cleanup(transport.CloseIdleConnections)
	return &browser{site: s, client: &http.Client{
		Transport: transport, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// as is the browser of a person who is signed in and has a role in the workspace, or none.
func (s *site) as(subject string, role store.Role) *browser {
	s.t.Helper()
	secret, user, err := s.SignIn(s.t.Context(), fleet.Identity{Issuer: s.issuer.URL, Subject: subject, Name: subject}, "")
	require.NoError(s.t, err)
	if role != "" {
		require.NoError(s.t, s.Grant(s.t.Context(), user.Issuer, user.Subject, &s.workspace.ID, role))
	}
	b := s.nobody()
	u, err := url.Parse(s.server.URL)
	require.NoError(s.t, err)
	b.client.Jar.SetCookies(u, []*http.Cookie{{Name: session.Cookie, Value: secret, Secure: true, Path: "/"}})
	return b
}

// answer is what came back, read to its end.
type answer struct {
	*http.Response
	text string
	*goquery.Document
}

func (b *browser) do(r *http.Request, headers ...string) answer {
	b.t.Helper()
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	document, err := goquery.NewDocumentFromReader(strings.NewReader(string(body)))
	require.NoError(b.t, err)
	return answer{response, string(body), document}
}

func (b *browser) get(path string, headers ...string) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.server.URL+path, nil)
	require.NoError(b.t, err)
	return b.do(r, headers...)
}

func (b *browser) post(path string, form url.Values, headers ...string) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.server.URL+path, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r, headers...)
}

// fill reads the form of a page as a browser would send it, with some fields changed.
func (a answer) fill(t *testing.T, selector string, changes ...string) url.Values {
	t.Helper()
	form := a.Find(selector)
	require.Equal(t, 1, form.Length(), "forms that fit %s", selector)
	values := url.Values{}
	form.Find("input[name], select[name], textarea[name]").Each(func(_ int, control *goquery.Selection) {
		name, _ := control.Attr("name")
		value, _ := control.Attr("value")
		kind, _ := control.Attr("type")
		_, disabled := control.Attr("disabled")
		_, checked := control.Attr("checked")
		switch {
		case disabled, kind == "checkbox" && !checked:
			return
		case goquery.NodeName(control) == "select":
			chosen := control.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = control.Find("option").First()
			}
			value, _ = chosen.Attr("value")
		case goquery.NodeName(control) == "textarea":
			value = control.Text()
		}
		values.Add(name, value)
	})
	for i := 0; i+1 < len(changes); i += 2 {
		values.Set(changes[i], changes[i+1])
	}
	return values
}

// cluster saves a cluster without installing it.
func (s *site) cluster(name string, values store.Values) store.Cluster {
	s.t.Helper()
	cluster, _, err := s.CreateCluster(s.t.Context(), fleet.System, fleet.NewCluster{
		WorkspaceID: s.workspace.ID, Name: name, TemplateVersionID: *s.template.ClusterTemplate.CurrentVersionID, Values: values,
	})
	require.NoError(s.t, err)
	return cluster
}

// installed is a cluster whose installation has succeeded.
func (s *site) installed(name string) store.Cluster {
	s.t.Helper()
	cluster := s.cluster(name, nil)
	task, err := s.InstallCluster(s.t.Context(), fleet.System, cluster.ID)
	require.NoError(s.t, err)
	delivery := fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}
	_, err = s.Claim(s.t.Context(), delivery, "worker")
	require.NoError(s.t, err)
	require.NoError(s.t, s.AppendLog(s.t.Context(), delivery, 1, []string{"one", "an error happened"}))
	require.NoError(s.t, s.Finish(s.t.Context(), delivery, fleet.Ending{Status: store.TaskSucceeded}))
	cluster, err = s.Store.Cluster(s.t.Context(), cluster.ID)
	require.NoError(s.t, err)
	return cluster
}

func parameter(key string) string { return clusters.ValueField(key) }

// idOf is the id of a person who has signed in.
func (s *site) idOf(subject string) uuid.UUID {
	s.t.Helper()
	user, err := s.Store.EnsureUser(s.t.Context(), store.EnsureUserParams{Issuer: s.issuer.URL, Subject: subject})
	require.NoError(s.t, err)
	return user.ID
}

func anyID() string { return uuid.NewString() }
