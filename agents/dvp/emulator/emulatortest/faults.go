package emulatortest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

// Faulty is an access to DVP through which a part of all requests fails, in the ways that real ones
// do. The same seed gives the same faults to the same requests in the same order.
func Faulty(access *rest.Config, seed uint64, part float64) *rest.Config {
	f := &faults{random: rand.New(rand.NewPCG(seed, 0)), part: part} //nolint:gosec // nothing to guess
	config := rest.CopyConfig(access)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &faulty{f, next} })
	return config
}

type faults struct {
	mu     sync.Mutex // protects random
	random *rand.Rand
	part   float64
}

type faulty struct {
	*faults
	next http.RoundTripper
}

// The kinds of faults.
const (
	faultRefused   = iota // the connection is
	faultLost             // the request is done and its answer lost
	faultConflict         // somebody else was faster
	faultTooMany          // the API is overloaded
	faultInternal         // its store is away
	faultTruncated        // the answer breaks off, as a watch does that is dropped
	faultKinds
)

func (f *faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	fails, kind, after := f.random.Float64() < f.part, f.random.IntN(faultKinds), f.random.IntN(400)
	f.mu.Unlock()
	if !fails {
		return f.next.RoundTrip(r)
	}
	switch {
	case kind == faultConflict && r.Method != http.MethodGet:
		return status(r, http.StatusConflict, "Conflict"), nil
	case kind == faultTooMany:
		return status(r, http.StatusTooManyRequests, "TooManyRequests"), nil
	case kind == faultInternal:
		return status(r, http.StatusInternalServerError, "InternalError"), nil
	case kind == faultLost, kind == faultTruncated:
		answer, err := f.next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if kind == faultTruncated {
			answer.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(answer.Body, int64(after)), broken{}), answer.Body}
			return answer, nil
		}
		answer.Body.Close()
		return nil, errors.New("the answer is lost")
	}
	return nil, errors.New("connection refused")
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func status(r *http.Request, code int, reason string) *http.Response {
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a fault of the test","reason":"` + reason + `","code":0}`
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r}
}
