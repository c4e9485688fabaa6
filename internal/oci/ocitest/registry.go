// Package ocitest is a registry for tests: the reading half of the distribution API over HTTP or
// TLS, with the two ways in which registries ask who is there.
package ocitest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Registry holds images. Set its fields before the first request.
type Registry struct {
	// Username and Password are asked for when they are set, by token unless Basic.
	Username, Password string
	Basic              bool

	server *httptest.Server
	mu     sync.Mutex
	tags   map[string]map[string]string // of a repository: digest by tag
	blobs  map[string][]byte
}

// New starts a registry with TLS; NewPlain one without.
func New(t testing.TB) *Registry { return start(t, httptest.NewTLSServer) }

// NewPlain starts a registry without TLS.
func NewPlain(t testing.TB) *Registry { return start(t, httptest.NewServer) }

func start(t testing.TB, serve func(http.Handler) *httptest.Server) *Registry {
	t.Helper()
	r := &Registry{tags: map[string]map[string]string{}, blobs: map[string][]byte{}}
	r.server = serve(r)
	t.Cleanup(r.server.Close)
	return r
}

// Host is its address without the scheme.
func (r *Registry) Host() string {
	_, host, _ := strings.Cut(r.server.URL, "://")
	return host
}

// CA is the PEM of its authority.
func (r *Registry) CA() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw}))
}

// Close stops it before the test ends.
func (r *Registry) Close() { r.server.Close() }

// Put stores an image of one layer under a tag, inside an index when indexed is set.
func (r *Registry) Put(repository, tag string, indexed bool, files map[string]string) {
	var layer bytes.Buffer
	packed := gzip.NewWriter(&layer)
	archive := tar.NewWriter(packed)
	for name, body := range files {
		_ = archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(body)), Typeflag: tar.TypeReg})
		_, _ = archive.Write([]byte(body))
	}
	_ = archive.Close()
	_ = packed.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	type descriptor = map[string]any
	top := r.store(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"layers": []descriptor{{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": r.keep(layer.Bytes()), "size": layer.Len()}},
	})
	if indexed {
		top = r.store(map[string]any{
			"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []descriptor{{"digest": top}},
		})
	}
	if r.tags[repository] == nil {
		r.tags[repository] = map[string]string{}
	}
	r.tags[repository][tag] = top
}

// Spoil changes every blob that holds a layer, so that no digest fits any more.
func (r *Registry) Spoil() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for digest, body := range r.blobs {
		if len(body) > 0 && body[0] == 0x1f {
			var other bytes.Buffer
			packed := gzip.NewWriter(&other)
			_ = tar.NewWriter(packed).Close()
			_ = packed.Close()
			r.blobs[digest] = other.Bytes()
		}
	}
}

func (r *Registry) store(document any) string {
	body, _ := json.Marshal(document)
	return r.keep(body)
}

func (r *Registry) keep(body []byte) string {
	sum := sha256.Sum256(body)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	r.blobs[digest] = body
	return digest
}

const token = "token-of-the-test"

// ServeHTTP answers as a registry does.
func (r *Registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.URL.Path == "/token" {
		if name, password, _ := q.BasicAuth(); name != r.Username || password != r.Password || q.URL.Query().Get("service") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"token": token})
		return
	}
	if r.Username != "" && !r.known(q) {
		challenge := `Bearer realm="` + r.server.URL + `/token",service="test",scope="repository:any:pull"`
		if r.Basic {
			challenge = `Basic realm="test"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	path, is := strings.CutPrefix(q.URL.Path, "/v2/")
	repository, kind, name := cut(path)
	tags := r.tags[repository]
	digest := name
	if kind == "manifests" && tags[name] != "" {
		digest = tags[name]
	}
	body, there := r.blobs[digest]
	switch {
	case !is || tags == nil:
		w.WriteHeader(http.StatusNotFound)
	case kind == "tags":
		names := make([]string, 0, len(tags))
		for tag := range tags {
			names = append(names, tag)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"name": repository, "tags": names})
	case there:
		_, _ = w.Write(body)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (r *Registry) known(q *http.Request) bool {
	if r.Basic {
		name, password, _ := q.BasicAuth()
		return name == r.Username && password == r.Password
	}
	return q.Header.Get("Authorization") == "Bearer "+token
}

// cut parts a path such as a/b/tags/list.
func cut(path string) (repository, kind, name string) {
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return "", "", ""
	}
	return strings.Join(parts[:len(parts)-2], "/"), parts[len(parts)-2], parts[len(parts)-1]
}
