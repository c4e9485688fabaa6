package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAPanicIsAnAnswerAndALineInTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	a := &api{log: slog.New(slog.NewJSONHandler(&log, nil))}
	w := httptest.NewRecorder()
	a.handler(func(http.ResponseWriter, *http.Request) error { panic("out of luck") })(w, httptest.NewRequest(http.MethodGet, "/api/v1/clusters", nil))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), `"error":"internal"`) || strings.Contains(w.Body.String(), "luck") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "out of luck") || !strings.Contains(log.String(), "panic_test.go") {
		t.Errorf("the log lacks the reason: %s", log.String())
	}
}
