package respond

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// JSON answers with a value as JSON. Nothing is written when the value cannot be encoded.
func JSON(w http.ResponseWriter, status int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // an error here is a client that went away
	return nil
}
