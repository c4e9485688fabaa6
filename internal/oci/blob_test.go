package oci

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestBlob(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("content"))
	good, other := "sha256:"+hex.EncodeToString(sum[:]), "sha256:"+strings.Repeat("a", 64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, _, _ := r.BasicAuth(); user != "me" {
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/v2/deckhouse/ee/blobs/"+good && r.URL.Path != "/v2/deckhouse/ee/blobs/"+other {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("content")) // the test sees what is missing
	}))
	defer server.Close()
	client, err := New(Repository{Scheme: "http", Host: strings.TrimPrefix(server.URL, "http://"), Path: "deckhouse/ee", Username: "me", Password: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var got bytes.Buffer
	if err := client.Blob(t.Context(), good, &got); err != nil || got.String() != "content" {
		t.Errorf("got %q, %v, want the content", got.String(), err)
	}
	for wanted, want := range map[string]error{
		other:                               ErrProtocol,
		"sha256:" + strings.Repeat("b", 64): ErrNotFound,
		"md5:1":                             ErrProtocol,
	} {
		if err := client.Blob(t.Context(), wanted, &got); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", wanted, err, want)
		}
	}
}
