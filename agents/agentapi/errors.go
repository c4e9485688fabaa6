package agentapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// StatusError is an answer of Commander, or of a proxy on the way, that is no success.
type StatusError struct {
	Code    int
	Message string // first line of the answer, for a person
}

func (e *StatusError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("Commander answered %d %s", e.Code, http.StatusText(e.Code))
	}
	return fmt.Sprintf("Commander answered %d: %s", e.Code, e.Message)
}

// Refused says whether Commander does not accept the token.
func Refused(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden)
}

// statusError reads a short answer. A page of HTML says nothing to a reader of logs.
func statusError(resp *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
	line, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
	if strings.HasPrefix(line, "<") {
		line = ""
	}
	return &StatusError{Code: resp.StatusCode, Message: strings.ToValidUTF8(line, "")}
}
