package respond_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"commander/internal/fault"
	"commander/views/layout"
	"commander/web/respond"
)

// ask makes a request with headers given as name, value, name, value …
func ask(method, path string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r.WithContext(respond.WithOrigin(r.Context(), respond.Origin{RequestID: "r-1"}))
}

func TestOnlyAddressesOfThisSiteAreLocal(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"/clusters/1?tab=a&b=c": "/clusters/1?tab=a&b=c",
		"/":                     "/",
		"":                      "",
		"clusters":              "",
		"//evil.example":        "",
		"/%2Fevil.example":      "",
		`/\evil.example`:        "",
		"/\n/evil.example":      "",
		"https://evil.example/": "",
		"javascript:alert(1)":   "",
	} {
		require.Equal(t, want, respond.LocalPath(address), address)
	}
}

func TestPageOrFragment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"a browser", nil, "page"},
		{"a part is asked for", []string{"HX-Request", "true"}, "fragment"},
		{"navigation by script", []string{"HX-Request", "true", "HX-Boosted", "true"}, "page"},
		{"restored history", []string{"HX-Request", "true", "HX-History-Restore-Request", "true"}, "page"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			require.NoError(t, respond.HTML(w, ask("GET", "/", c.headers...), http.StatusAccepted, templ.Raw("page"), templ.Raw("fragment")))
			require.Equal(t, c.want, w.Body.String())
			require.Equal(t, http.StatusAccepted, w.Code)
			require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
			require.Contains(t, w.Header().Get("Vary"), "HX-Boosted")
		})
	}
}

func TestSeeOtherWithAndWithoutScript(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	require.NoError(t, respond.SeeOther(w, ask("POST", "/x"), "/tasks/1"))
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/tasks/1", w.Header().Get("Location"))

	w = httptest.NewRecorder()
	require.NoError(t, respond.SeeOther(w, ask("POST", "/x", "HX-Request", "true", "HX-Boosted", "true"), "/tasks/1"))
	require.Equal(t, http.StatusNoContent, w.Code)
	require.Empty(t, w.Header().Get("Location"), "the script would follow it by itself")
	var location map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.Header().Get("HX-Location")), &location))
	require.Equal(t, "/tasks/1", location["path"])
	require.Equal(t, "#main", location["target"])
	require.Equal(t, "#main", location["select"])
}

// edge runs one failing handler and gives its answer and what was logged.
func edge(r *http.Request, handle func(http.ResponseWriter, *http.Request) error) (*httptest.ResponseRecorder, string) {
	var log bytes.Buffer
	e := respond.Edge{
		Log:   slog.New(slog.NewTextHandler(&log, nil)),
		Frame: func(*http.Request) layout.Frame { return layout.Frame{} },
	}
	w := httptest.NewRecorder()
	e.Page(handle).ServeHTTP(w, r)
	return w, log.String()
}

func fails(err error) func(http.ResponseWriter, *http.Request) error {
	return func(http.ResponseWriter, *http.Request) error { return err }
}

func TestEachKindOfFaultHasItsAnswer(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial 10.1.2.3: secret detail")
	for status, err := range map[int]error{
		http.StatusUnprocessableEntity: fault.Wrap(fault.Invalid, cause, "fault.form"),
		http.StatusNotFound:            fault.Wrap(fault.NotFound, cause, "fault.not_found"),
		http.StatusConflict:            fault.Wrap(fault.Conflict, cause, "cluster.locked", "prod"),
		http.StatusForbidden:           fault.Wrap(fault.Forbidden, cause, "fault.forbidden"),
		http.StatusUnauthorized:        fault.Wrap(fault.Unauthenticated, cause, "fault.session"),
		http.StatusServiceUnavailable:  fmt.Errorf("read clusters: %w", fault.Wrap(fault.Unavailable, cause, "fault.database_away")),
		http.StatusInternalServerError: cause,
	} {
		w, log := edge(ask("GET", "/clusters/1"), fails(err))
		require.Equal(t, status, w.Code)
		require.NotContains(t, w.Body.String(), "secret detail")
		require.Contains(t, w.Body.String(), "r-1", "the request can be named")
		require.Equal(t, 1, strings.Count(log, "secret detail"), "it is logged once: %s", log)
		page, err := goquery.NewDocumentFromReader(w.Body)
		require.NoError(t, err)
		require.Equal(t, 1, page.Find("#main h1").Length())
	}
}

func TestFailureOfAPartIsANoticeAboveThePage(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*http.Request{
		"a fragment": ask("GET", "/x", "HX-Request", "true"),
		"a change":   ask("POST", "/x", "HX-Request", "true", "HX-Boosted", "true"),
	} {
		w, _ := edge(r, fails(fault.New(fault.Conflict, "cluster.locked", "prod")))
		require.Equal(t, http.StatusConflict, w.Code, name)
		require.Equal(t, "none", w.Header().Get("HX-Reswap"), "the page stays as it is")
		part, err := goquery.NewDocumentFromReader(w.Body)
		require.NoError(t, err)
		notice := part.Find("#problems[hx-swap-oob] [role=alert]")
		require.Equal(t, 1, notice.Length(), name)
		require.Contains(t, notice.Text(), "prod is protected from deletion.")
	}
}

func TestPanicIsAFailureLikeOthers(t *testing.T) {
	t.Parallel()
	w, log := edge(ask("GET", "/"), func(http.ResponseWriter, *http.Request) error { panic("nil map") })
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.NotContains(t, w.Body.String(), "nil map")
	require.Contains(t, log, "nil map")
	require.Contains(t, log, "respond_test.go", "the log says where")
}

func TestHalfAnAnswerDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := respond.Edge{Log: slog.New(slog.DiscardHandler)}
		e.Page(func(w http.ResponseWriter, _ *http.Request) error {
			_, _ = w.Write([]byte("half"))
			return errors.New("broke")
		}).ServeHTTP(w, r)
	}))
	defer server.Close()
	answer, err := server.Client().Get(server.URL)
	if err == nil {
		defer func() { _ = answer.Body.Close() }()
		_, err = io.ReadAll(answer.Body)
	}
	require.ErrorContains(t, err, "EOF")
}
