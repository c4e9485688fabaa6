package respond

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Origin is where a request comes from.
type Origin struct {
	// RequestID names the request in the log and wherever a person is told of a failure.
	RequestID string
	// RemoteAddress is the address of whoever asks, without a port.
	RemoteAddress string
}

type originKey struct{}

// WithOrigin notes where the context's request comes from.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf tells where the context's request comes from; the zero Origin outside of a request.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// IsHTMX tells whether the browser's script asks, rather than the browser itself.
func IsHTMX(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// WantsFragment tells whether a request asks for a part of a page. Navigation by script is
// boosted and takes what it needs out of a whole page, and so does the restoring of history.
func WantsFragment(r *http.Request) bool {
	return IsHTMX(r) && r.Header.Get("HX-Boosted") == "" && r.Header.Get("HX-History-Restore-Request") == ""
}

// safe tells whether a request changes nothing.
func safe(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// LocalPath returns an address of this site as path and query, and nothing for any other: what
// browsers would read as another host (//host, /\host) and what does not begin with a slash.
func LocalPath(address string) string {
	if !strings.HasPrefix(address, "/") || strings.ContainsFunc(address, unprintable) || strings.ContainsRune(address, '\\') {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.HasPrefix(u.Path, "//") {
		return ""
	}
	return u.RequestURI()
}

// unprintable holds for what browsers drop from addresses before they read them.
func unprintable(r rune) bool { return r < 0x20 || r == 0x7f }

// PageOf is the address of the page that a request was made from: its own when it is a page.
func PageOf(r *http.Request) string {
	if safe(r) && !WantsFragment(r) {
		return r.URL.RequestURI()
	}
	from := r.Header.Get("HX-Current-URL")
	if from == "" {
		from = r.Referer()
	}
	u, err := url.Parse(from)
	if err != nil || u.Host != r.Host {
		return ""
	}
	return LocalPath(u.RequestURI())
}
