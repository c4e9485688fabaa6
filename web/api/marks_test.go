package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabelsAndProtection(t *testing.T) {
	t.Parallel()
	b := start(t)
	code, body := b.ask(t, b.full, "POST", "/clusters", `{"name":"a","cluster_template_version_id":"`+b.Lab.ID.String()+`","labels":{"env":"prod"}}`)
	if code != 201 {
		t.Fatalf("got %d %s", code, body)
	}
	made := parse[object](t, body)
	at := "/clusters/" + made["id"].(string)
	if diff := cmp.Diff(object{"env": "prod"}, made["labels"]); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	b.Create(t, "b", nil)

	after := b.get(t, 200, b.full, "PATCH", at, `{"labels":{"env":"test","team":"x"},"is_locked":true}`)
	if after["is_locked"] != true || after["current_revision"] != made["current_revision"] || len(after["labels"].(object)) != 2 {
		t.Errorf("got %v, %v, %v", after["is_locked"], after["current_revision"], after["labels"])
	}
	if after = b.get(t, 200, b.full, "PATCH", at, `{}`); after["is_locked"] != true || len(after["labels"].(object)) != 2 {
		t.Error("what is left out does not stay")
	}
	for search, want := range map[string]int{"env%3Dtest": 1, "env%3Dprod": 0, "": 2, "b": 1, "team%3Dx%20a": 1} {
		_, body := b.ask(t, b.reader, "GET", "/clusters?search="+search, "")
		if got := len(parse[[]object](t, body)); got != want {
			t.Errorf("search %q: got %d clusters, want %d", search, got, want)
		}
	}
	refused := b.get(t, 409, b.full, "DELETE", at, "")
	if refused["error"] != "locked" || refused["message"] == "" {
		t.Errorf("got %v", refused)
	}
	bad := b.get(t, 422, b.full, "PATCH", at, `{"labels":{"env":"<b>"}}`)
	if bad["details"].(object)["labels"] == nil {
		t.Errorf("got %v", bad)
	}
	b.get(t, 403, b.reader, "PATCH", at, `{"is_locked":false}`)
	b.get(t, 400, b.full, "PATCH", at, `{"is_locked":"yes"}`)
	b.get(t, 200, b.full, "PATCH", at, `{"is_locked":false}`)
	b.get(t, 200, b.full, "DELETE", at, "")
}
