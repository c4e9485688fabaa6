package respond

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// smallest is what is worth packing: a smaller page fits into the first packets as it is.
const smallest = 4 << 10

var zips = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// zipped packs the body of a page for browsers that can unpack it. Only what is read is packed:
// answers to forms may hold a secret that is shown once, and the length of a packed text tells of
// its contents to whoever can choose a part of it.
func zipped(h http.Header, r *http.Request, body *bytes.Buffer) (*bytes.Buffer, error) {
	if !safe(r) || body.Len() < smallest || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return body, nil
	}
	packed := &bytes.Buffer{}
	w := zips.Get().(*gzip.Writer)
	defer zips.Put(w)
	w.Reset(packed)
	if _, err := body.WriteTo(w); err != nil {
		return nil, fmt.Errorf("pack the page: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack the page: %w", err)
	}
	h.Set("Content-Encoding", "gzip")
	return packed, nil
}
