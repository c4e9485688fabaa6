package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// longestBody bounds a request: the values of a cluster are far below it.
const longestBody = 1 << 20

// read decodes the body of a request. Forms are refused, since a page of another site could send one.
func read(w http.ResponseWriter, r *http.Request, into any) error {
	return readUpTo(w, r, longestBody, into)
}

// readUpTo is read for bodies that may be longer or must be shorter.
func readUpTo(w http.ResponseWriter, r *http.Request, longest int64, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &badRequest{http.StatusUnsupportedMediaType, problem{Error: "unsupported_media_type", Message: "The body must be application/json."}}
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, longest))
	err := decoder.Decode(into)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return &badRequest{http.StatusRequestEntityTooLarge, problem{Error: "too_large", Message: fmt.Sprintf("The body is larger than %d bytes.", longest)}}
	case errors.As(err, &kind) && kind.Field != "":
		return &badRequest{http.StatusBadRequest, problem{
			Error: "malformed", Message: "An attribute has the wrong type.",
			Details: map[string]string{kind.Field: "must not be a " + kind.Value},
		}}
	}
	return &badRequest{http.StatusBadRequest, problem{Error: "malformed", Message: "The body is not one JSON object."}}
}

// attribute is one that a request must have.
type attribute struct {
	name  string
	given bool
}

// require fails with the names of all attributes that are missing.
func require(attributes ...attribute) error {
	var missing []string
	details := map[string]string{}
	for _, a := range attributes {
		if !a.given {
			missing = append(missing, a.name)
			details[a.name] = "is missing"
		}
	}
	if missing == nil {
		return nil
	}
	return &badRequest{http.StatusBadRequest, problem{
		Error: "missing_attributes", Message: "Missing attributes: " + strings.Join(missing, ", ") + ".", Details: details,
	}}
}
