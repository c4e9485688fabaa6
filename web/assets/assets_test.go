package assets_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/web/assets"
)

// folder makes a folder of assets with a style sheet of the given content.
func folder(t *testing.T, style string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		assets.Style:      style,
		assets.Script:     strings.Repeat("say();", 200),
		assets.Icon:       "<svg/>",
		assets.Editor:     "edit();",
		"placeholder.txt": "not served",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func get(set *assets.Set, url string, header http.Header) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, url, nil)
	request.Header = header
	answer := httptest.NewRecorder()
	set.ServeHTTP(answer, request)
	return answer
}

func TestAddressesHoldTheHashAndMayBeKept(t *testing.T) {
	t.Parallel()
	set, err := assets.Disk(folder(t, "a{}"))
	require.NoError(t, err)
	url := set.URL(assets.Style)
	require.Regexp(t, `^/assets/commander-[0-9a-f]{16}\.css$`, url)

	answer := get(set, url, http.Header{})
	require.Equal(t, http.StatusOK, answer.Code)
	require.Equal(t, "a{}", answer.Body.String())
	require.Contains(t, answer.Header().Get("Content-Type"), "text/css")
	require.Contains(t, answer.Header().Get("Cache-Control"), "immutable")

	again := get(set, url, http.Header{"If-None-Match": {answer.Header().Get("ETag")}})
	require.Equal(t, http.StatusNotModified, again.Code)
	require.Empty(t, again.Body.String())

	for _, unknown := range []string{"/assets/commander.css", "/assets/commander-0000000000000000.css", "/assets/", "/assets/placeholder.txt"} {
		require.Equal(t, http.StatusNotFound, get(set, unknown, http.Header{}).Code, unknown)
	}
}

func TestCompressedWhereThatHelps(t *testing.T) {
	t.Parallel()
	set, err := assets.Disk(folder(t, "a{}"))
	require.NoError(t, err)
	accept := http.Header{"Accept-Encoding": {"br, gzip"}}

	answer := get(set, set.URL(assets.Script), accept)
	require.Equal(t, "gzip", answer.Header().Get("Content-Encoding"))
	unzip, err := gzip.NewReader(answer.Body)
	require.NoError(t, err)
	script, err := io.ReadAll(unzip)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("say();", 200), string(script))

	require.Empty(t, get(set, set.URL(assets.Icon), accept).Header().Get("Content-Encoding"))
	require.Empty(t, get(set, set.URL(assets.Script), http.Header{}).Header().Get("Content-Encoding"))
}

func TestFilesOnDiskAreReadAgain(t *testing.T) {
	t.Parallel()
	dir := folder(t, "a{}")
	set, err := assets.Disk(dir)
	require.NoError(t, err)
	before := set.URL(assets.Style)
	require.NoError(t, os.WriteFile(filepath.Join(dir, assets.Style), []byte("b{}"), 0o600))
	after := set.URL(assets.Style)
	require.NotEqual(t, before, after)
	require.Equal(t, "b{}", get(set, after, http.Header{}).Body.String())
}

func TestWhatIsMissingIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	_, err := assets.Disk(t.TempDir())
	require.ErrorIs(t, err, assets.ErrNotBuilt)
	require.ErrorContains(t, err, "make assets")

	set, err := assets.Disk(folder(t, "a{}"))
	require.NoError(t, err)
	require.Panics(t, func() { set.URL("no-such.css") })
}

// budget is what a page may load before it is usable, compressed, in bytes.
const budget = 40 << 10

func TestTheBaseStaysSmall(t *testing.T) {
	t.Parallel()
	set, err := assets.Embedded()
	if errors.Is(err, assets.ErrNotBuilt) {
		t.Fatalf("%v", err)
	}
	require.NoError(t, err)
	var all bytes.Buffer
	for _, name := range []string{assets.Style, assets.Script, assets.Icon} {
		answer := get(set, set.URL(name), http.Header{"Accept-Encoding": {"gzip"}})
		all.Write(answer.Body.Bytes())
	}
	require.Less(t, all.Len(), budget)
}
