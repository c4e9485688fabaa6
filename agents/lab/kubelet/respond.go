package kubelet

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// respond answers HTTP requests on a forwarded port, one after the other, until the client closes
// it or says something that is no HTTP.
func respond(stream io.ReadWriter, c container, port int32) error {
	reader := bufio.NewReader(stream)
	for {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return nil // closed, or no HTTP: a played pod understands nothing else
		}
		body := fmt.Sprintf("port %d of pod %s/%s, played by the lab: %s %s\n", port, c.namespace, c.pod, request.Method, request.URL.Path)
		answer := &http.Response{
			StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: request,
			Header:        http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
			ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)), Close: request.Close,
		}
		// The body of the request is read to its end, to be at the beginning of the next one.
		if _, err := io.Copy(io.Discard, io.LimitReader(request.Body, maxBody)); err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		if err := answer.Write(stream); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		if request.Close {
			return nil
		}
	}
}

// maxBody bounds what is read of a request, in bytes.
const maxBody = 1 << 20
