package connector

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// answerLimit is how long a client that cannot be served may take to say what it wants and to
// hear the answer.
const answerLimit = 10 * time.Second

// status has the shape of a Kubernetes Status, which kubectl and client libraries show as it is.
type status struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   struct{} `json:"metadata"`
	Status     string   `json:"status"`
	Message    string   `json:"message"`
	Reason     string   `json:"reason"`
	Code       int      `json:"code"`
}

// unavailable answers the request on a connection with 503. The request is read first, because a
// client that is still writing to a closed socket does not look for an answer.
func unavailable(conn *net.UnixConn, message string) {
	_ = conn.SetDeadline(time.Now().Add(answerLimit))
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return // gone, idle or no HTTP: nobody to tell
	}
	body, err := json.Marshal(status{
		Kind: "Status", APIVersion: "v1", Status: "Failure",
		Message: message, Reason: "ServiceUnavailable", Code: http.StatusServiceUnavailable,
	})
	if err != nil {
		return
	}
	_, err = fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nRetry-After: 5\r\nConnection: close\r\n\r\n", len(body))
	if err != nil {
		return
	}
	if request.Method != http.MethodHead {
		_, _ = conn.Write(body)
	}
	_ = conn.CloseWrite()
	_, _ = io.CopyN(io.Discard, conn, 1<<20)
}
