package oci_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"commander/internal/oci"
	"commander/internal/oci/ocitest"
)

func client(t *testing.T, at oci.Repository) *oci.Client {
	t.Helper()
	c, err := oci.New(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestReadingAFileOfAnImage(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name           string
		plain, basic   bool
		indexed, users bool
	}{
		{"over TLS with a token", false, false, false, true},
		{"over TLS with a password", false, true, false, true},
		{"an image for several platforms", false, false, true, false},
		{"without TLS", true, false, false, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			serve, at := ocitest.New, oci.Repository{Path: "platform/ee"}
			if c.plain {
				serve, at.Scheme = ocitest.NewPlain, "http"
			}
			r := serve(t)
			r.Basic = c.basic
			if at.Host = r.Host(); !c.plain {
				at.CA = r.CA()
			}
			if c.users {
				r.Username, r.Password = "reader", "correct horse"
				at.Username, at.Password = r.Username, r.Password
			}
			r.Put("platform/ee/release-channel", "stable", c.indexed, map[string]string{"./version.json": `{"version":"v1.70.1"}`})
			reader := client(t, at)
			tags, err := reader.Tags(t.Context(), "release-channel")
			if err != nil || len(tags) != 1 || tags[0] != "stable" {
				t.Errorf("tags: got %v, %v", tags, err)
			}
			body, err := reader.File(t.Context(), "release-channel", "stable", "version.json", 1<<10)
			if err != nil || string(body) != `{"version":"v1.70.1"}` {
				t.Errorf("file: got %s, %v", body, err)
			}
		})
	}
}

func TestWhatCanBeWrongWithARegistry(t *testing.T) {
	t.Parallel()
	r := ocitest.New(t)
	r.Username, r.Password = "reader", "correct horse"
	r.Put("platform", "v1", false, map[string]string{"a": "b", "large": strings.Repeat("x", 100)})
	gone := ocitest.New(t)
	gone.Close()
	page := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(page.Close)
	plain := ocitest.NewPlain(t)
	good := oci.Repository{Host: r.Host(), Path: "platform", CA: r.CA(), Username: "reader", Password: "correct horse"}
	with := func(change func(*oci.Repository)) oci.Repository {
		other := good
		change(&other)
		return other
	}
	cases := []struct {
		name string
		at   oci.Repository
		tag  string
		file string
		want error
	}{
		{"an authority that nobody trusts", with(func(a *oci.Repository) { a.CA = "" }), "v1", "a", oci.ErrCertificate},
		{"a wrong password", with(func(a *oci.Repository) { a.Password = "x" }), "v1", "a", oci.ErrDenied},
		{"no credentials", with(func(a *oci.Repository) { a.Username = "" }), "v1", "a", oci.ErrDenied},
		{"another repository", with(func(a *oci.Repository) { a.Path = "other" }), "v1", "a", oci.ErrNotFound},
		{"another tag", good, "v2", "a", oci.ErrNotFound},
		{"another file", good, "v1", "b", oci.ErrNotFound},
		{"a file that is too large", good, "v1", "large", oci.ErrTooLarge},
		{"nobody listens", with(func(a *oci.Repository) { a.Host = gone.Host() }), "v1", "a", oci.ErrUnreachable},
		{"a web page", with(func(a *oci.Repository) { a.Host = page.Listener.Addr().String() }), "v1", "a", oci.ErrProtocol},
		{"TLS is asked for and not there", with(func(a *oci.Repository) { a.Host = plain.Host() }), "v1", "a", oci.ErrProtocol},
	}
	for _, c := range cases {
		_, err := client(t, c.at).File(t.Context(), "", c.tag, c.file, 50)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestALayerMustHaveItsDigest(t *testing.T) {
	t.Parallel()
	r := ocitest.New(t)
	r.Put("platform", "v1", false, map[string]string{"a": "b"})
	r.Spoil()
	_, err := client(t, oci.Repository{Host: r.Host(), Path: "platform", CA: r.CA()}).File(t.Context(), "", "v1", "a", 50)
	if !errors.Is(err, oci.ErrProtocol) {
		t.Errorf("got %v, want %v", err, oci.ErrProtocol)
	}
}

func TestCredentialsStayWithTLS(t *testing.T) {
	t.Parallel()
	asked := false
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(service.Close)
	r := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+service.URL+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(r.Close)
	fake := ocitest.New(t) // httptest's servers share one authority
	_, err := client(t, oci.Repository{Host: r.Listener.Addr().String(), Path: "a", CA: fake.CA(), Username: "u", Password: "p"}).Tags(t.Context(), "")
	if !errors.Is(err, oci.ErrProtocol) || asked {
		t.Errorf("got %v, asked %v; want a refusal without a request", err, asked)
	}
}
