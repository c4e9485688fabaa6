package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestLoggerWritesJSONFromItsLevel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := Logger(&out, "warn", "prog")
	if err != nil {
		t.Fatal(err)
	}
	log.Info("not this")
	log.Warn("this", "cluster", "c1")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%q is not one JSON object: %v", out.String(), err)
	}
	if line["msg"] != "this" || line["cluster"] != "c1" || line["program"] != "prog" || line["level"] != "WARN" {
		t.Fatalf("got %v", line)
	}
	if _, err := Logger(&out, "loud", "prog"); err == nil {
		t.Fatal("level loud: got no error")
	}
}

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func TestHealth(t *testing.T) {
	t.Parallel()
	h := NewHealth(Registry())
	handler := h.Handler()
	if code, _ := get(t, handler, "/healthz"); code != 200 {
		t.Errorf("healthz = %d, want 200", code)
	}
	h.Add("database", func(context.Context) error { return nil })
	if code, body := get(t, handler, "/readyz"); code != 200 || body != "[+] database\n" {
		t.Errorf("readyz = %d %q, want 200 and the check", code, body)
	}
	h.Add("queue", func(context.Context) error { return errors.New("full") })
	if code, body := get(t, handler, "/readyz"); code != 503 || body != "[+] database\n[-] queue: full\n" {
		t.Errorf("readyz = %d %q, want 503 and both checks", code, body)
	}
	if code, body := get(t, handler, "/metrics"); code != 200 || !strings.Contains(body, "go_goroutines") || !strings.Contains(body, "process_resident_memory_bytes") {
		t.Errorf("metrics = %d, want those of Go and the process", code)
	}
}
