package api

import (
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/fleet/schema"
	"commander/store"
	"commander/views/paths"
)

// bench is a workspace with a full token, and the API before it.
type bench struct {
	*fleettest.Bench
	handler http.Handler
	full    string
	reader  string
}

type object = map[string]any

func start(t *testing.T) *bench {
	t.Helper()
	b := &bench{Bench: fleettest.New(t)}
	b.handler = New(b.Fleet, slog.New(slog.NewTextHandler(t.Output(), nil)))
	b.full, b.reader = b.token(t, b.Workspace, store.RoleFull), b.token(t, b.Workspace, store.RoleReadOnly)
	return b
}

func (b *bench) token(t *testing.T, w store.Workspace, role store.Role) string {
	t.Helper()
	_, secret, err := b.CreateToken(t.Context(), b.Admin, w.ID, "test "+string(role), role, 0)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// ask sends a request with a JSON body, unless it is empty, and returns the code and the body.
func (b *bench) ask(t *testing.T, token, method, path, body string) (int, []byte) {
	t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, paths.RouteAPI+path, in)
	r.Header.Set(TokenHeader, token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// get is ask for who expects a code and an object.
func (b *bench) get(t *testing.T, code int, token, method, path, body string) object {
	t.Helper()
	got, answer := b.ask(t, token, method, path, body)
	if got != code {
		t.Fatalf("%s %s: got %d %s, want %d", method, path, got, answer, code)
	}
	return parse[object](t, answer)
}

func parse[T any](t *testing.T, body []byte) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("parse %s: %v", body, err)
	}
	return out
}

func encode(t *testing.T, body any) string {
	t.Helper()
	out, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestLifeOfACluster(t *testing.T) {
	t.Parallel()
	b := start(t)
	_, answer := b.ask(t, b.full, "GET", "/cluster_templates?without_archived=true", "")
	templates := parse[[]object](t, answer)
	i := slices.IndexFunc(templates, func(o object) bool { return o["name"] == "Lab" })
	if i < 0 || templates[i]["current_cluster_template_version_id"] != b.Lab.ID.String() {
		t.Fatalf("templates: got %s", answer)
	}
	body := object{"name": "first", "cluster_template_version_id": b.Lab.ID, "registry_id": nil, "values": object{}}
	made := b.get(t, 201, b.full, "POST", "/clusters", encode(t, body))
	if made["status"] != "new" || made["was_created"] != false || made["agent_api_key"] != nil || made["agent_status"] != "unknown" {
		t.Fatalf("new cluster: got %v", made)
	}
	id := made["id"].(string)
	path := "/clusters/" + id

	body["current_revision"] = made["current_revision"]
	body["values"] = object{"workerCount": 3, "adminPassword": "correct horse"}
	changed := b.get(t, 200, b.full, "PUT", path, encode(t, body))
	if changed["current_revision"] != 2.0 || !strings.Contains(changed["desired_provider_specific_cluster_configuration_rendered"].(string), "replicas: 3") {
		t.Fatalf("changed cluster: got %v", changed)
	}
	if encoded := encode(t, changed); strings.Contains(encoded, "correct horse") {
		t.Errorf("the answer tells a secret: %s", encoded)
	}
	if got := changed["values"].(object)["adminPassword"]; got != schema.Mask {
		t.Errorf("password: got %v, want a mask", got)
	}
	stale := b.get(t, 409, b.full, "PUT", path, encode(t, body))
	if stale["error"] != "stale_revision" || stale["message"] == "" {
		t.Errorf("stale change: got %v", stale)
	}
	body["current_revision"], body["values"] = 2, changed["values"] // the mask with them
	b.get(t, 200, b.full, "PUT", path, encode(t, body))
	view, err := b.Cluster(t.Context(), b.Admin, uuid.MustParse(id))
	if err != nil || view.Wanted.Values["adminPassword"] != "correct horse" {
		t.Errorf("a mask sent back: got %v, error %v, want the old password", view.Wanted.Values["adminPassword"], err)
	}

	if conflict := b.get(t, 409, b.full, "GET", path+"/kubeconfig", ""); conflict["error"] != "no_api" {
		t.Errorf("kubeconfig before the installation: got %v", conflict)
	}
	gone := b.get(t, 200, b.full, "DELETE", path, "")
	if gone["status"] != "deleted" {
		t.Errorf("deletion of what was never made: got %v", gone["status"])
	}
	for query, want := range map[string]int{"": 0, "?archived=true": 1} {
		_, answer = b.ask(t, b.full, "GET", "/clusters"+query, "")
		if got := parse[[]object](t, answer); len(got) != want {
			t.Errorf("list %s: got %d clusters, want %d", query, len(got), want)
		}
	}
}

func TestDeletionOfAnInstalledCluster(t *testing.T) {
	t.Parallel()
	b := start(t)
	made := b.Installed(t, "first", nil)
	path := "/clusters/" + made.ID.String()
	shown := b.get(t, 200, b.reader, "GET", path, "")
	if shown["status"] != "in_sync" || shown["applied_cluster_configuration_rendered"] != shown["desired_cluster_configuration_rendered"] {
		t.Errorf("installed cluster: got %v", shown)
	}
	code, body := b.ask(t, b.reader, "GET", path+"/kubeconfig", "")
	if code != 200 || !strings.Contains(string(body), "server: https://commander.test/kubernetes/"+made.ID.String()) {
		t.Errorf("kubeconfig: got %d %s", code, body)
	}
	if got := b.get(t, 200, b.full, "DELETE", path, "")["status"]; got != "delete" {
		t.Errorf("deletion: got %v", got)
	}
}

func TestConfigurationErrorIsSaved(t *testing.T) {
	t.Parallel()
	b := start(t)
	body := object{"name": "broken", "cluster_template_version_id": b.Lab.ID, "values": object{"workerCount": -1}}
	made := b.get(t, 201, b.full, "POST", "/clusters", encode(t, body))
	found := made["render_errors"].([]any)
	if made["status"] != "configuration_error" || len(found) != 1 || found[0].(object)["section"] != "workerCount" || found[0].(object)["message"] == "" {
		t.Fatalf("got %v with %v", made["status"], found)
	}
	body["values"], body["current_revision"] = object{}, 1
	mended := b.get(t, 200, b.full, "PUT", "/clusters/"+made["id"].(string), encode(t, body))
	if mended["status"] != "new" || len(mended["render_errors"].([]any)) != 0 {
		t.Errorf("mended: got %v %v", mended["status"], mended["render_errors"])
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := start(t)
	other, err := b.EnsureWorkspace(t.Context(), "other", "Other")
	if err != nil {
		t.Fatal(err)
	}
	foreign := b.token(t, other, store.RoleFull)
	made, _ := b.Create(t, "first", nil)
	path := "/clusters/" + made.ID.String()
	good := encode(t, object{"name": "x", "cluster_template_version_id": b.Lab.ID, "values": object{}, "current_revision": 1})
	for _, c := range []struct {
		name, token, method, path, body string
		code                            int
		word, detail                    string
	}{
		{"no token", "", "GET", "/clusters", "", 401, "unauthenticated", ""},
		{"unknown token", "cmdr_x", "GET", "/clusters", "", 401, "unauthenticated", ""},
		{"unknown token at an unknown address", "cmdr_x", "GET", "/clusters/x/y", "", 404, "not_found", ""},
		{"method", b.full, "POST", path, "", 405, "method_not_allowed", ""},
		{"no id", b.full, "GET", "/clusters/x", "", 404, "not_found", ""},
		{"unknown id", b.full, "GET", "/clusters/" + uuid.NewString(), "", 404, "not_found", ""},
		{"another workspace's", foreign, "GET", path, "", 404, "not_found", ""},
		{"another workspace's template", foreign, "POST", "/clusters", good, 422, "invalid", fleet.VersionField},
		{"reader creates", b.reader, "POST", "/clusters", good, 403, "forbidden", ""},
		{"reader changes", b.reader, "PUT", path, good, 403, "forbidden", ""},
		{"reader deletes", b.reader, "DELETE", path, "", 403, "forbidden", ""},
		{"nothing in it", b.full, "POST", "/clusters", "{}", 400, "missing_attributes", "cluster_template_version_id"},
		{"change without revision", b.full, "PUT", path, `{"name":"x","cluster_template_version_id":"` + b.Lab.ID.String() + `"}`, 400, "missing_attributes", "current_revision"},
		{"wrong type", b.full, "POST", "/clusters", `{"name": 7}`, 400, "malformed", "name"},
		{"no JSON", b.full, "POST", "/clusters", `{`, 400, "malformed", ""},
		{"two objects", b.full, "POST", "/clusters", good + "{}", 400, "malformed", ""},
		{"too large", b.full, "POST", "/clusters", `{"name":"` + strings.Repeat("x", longestBody) + `"}`, 413, "too_large", ""},
		{"taken name", b.full, "POST", "/clusters", strings.Replace(good, `"x"`, `"first"`, 1), 422, "invalid", "name"},
		{"bad name", b.full, "POST", "/clusters", strings.Replace(good, `"x"`, `"Big Name"`, 1), 422, "invalid", "name"},
		{"no version", b.full, "POST", "/clusters", `{"name":"x","cluster_template_version_id":"1"}`, 422, "invalid", fleet.VersionField},
		{"registry", b.full, "POST", "/clusters", strings.Replace(good, `{`, `{"registry_id":"1",`, 1), 422, "invalid", "registry_id"},
	} {
		got := b.get(t, c.code, c.token, c.method, c.path, c.body)
		if got["error"] != c.word || got["message"] == "" || strings.Contains(got["message"].(string), "fault.") {
			t.Errorf("%s: got %v, want %s", c.name, got, c.word)
		}
		if details, _ := got["details"].(object); c.detail != "" && details[c.detail] == nil {
			t.Errorf("%s: got details %v, want one for %s", c.name, details, c.detail)
		}
	}
}

func TestFormsAndCookiesMeanNothing(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, kind := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", paths.RouteAPI+"/clusters", strings.NewReader(`{"name":"x"}`))
		r.Header.Set(TokenHeader, b.full)
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		if w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%q: got %d", kind, w.Code)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", paths.RouteAPI+"/clusters", nil)
	r.Header.Set("Authorization", "Bearer "+b.full)
	r.AddCookie(&http.Cookie{Name: TokenHeader, Value: b.full})
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("a cookie: got %d", w.Code)
	}
}

func TestDescriptionMatchesRoutesAndAnswers(t *testing.T) {
	t.Parallel()
	b := start(t)
	described := b.described(t)
	var want, got []string
	for path, methods := range described.Paths {
		for method := range methods {
			if method != "parameters" {
				want = append(want, strings.ToUpper(method)+" "+path)
			}
		}
	}
	err := chi.Walk(routes(&api{}), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		got = append(got, method+" "+strings.TrimPrefix(route, paths.RouteAPI))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-described +served):\n%s", diff)
	}

	made := b.Installed(t, "first", nil)
	if err := b.TakeReport(t.Context(), made.ID, fleet.AgentReport{Objects: store.AgentObjects{{Name: "x", State: "failed", Error: "no"}}, Failed: true}); err != nil {
		t.Fatal(err)
	}
	shown := b.get(t, 200, b.full, "GET", "/clusters/"+made.ID.String(), "")
	if shown["agent_status"] != "connected" || len(shown["cluster_agent_data"].([]any)) != 1 || len(shown["resources_state_results"].([]any)) != 1 {
		t.Errorf("after a report: got %v", shown)
	}
	_, listed := b.ask(t, b.full, "GET", "/clusters", "")
	whole := b.get(t, 200, b.full, "GET", "/cluster_templates/"+b.Lab.TemplateID.String(), "")
	for name, answer := range map[string]object{
		"Cluster": shown, "ClusterSummary": parse[[]object](t, listed)[0], "ClusterTemplate": whole,
		"ClusterTemplateVersion": whole["cluster_template_versions"].([]any)[0].(object),
	} {
		described.hold(t, name, answer)
	}
	if !slices.Contains(described.Components.Schemas["Status"].Enum, shown["status"].(string)) {
		t.Errorf("status %v is not described", shown["status"])
	}
	missing := b.get(t, 400, b.full, "PUT", "/clusters/"+made.ID.String(), "{}")
	required := slices.Sorted(slices.Values(described.Components.Schemas["ClusterChange"].Required))
	if diff := cmp.Diff(required, slices.Sorted(maps.Keys(missing["details"].(object)))); diff != "" {
		t.Errorf("required attributes of a change (-described +asked for):\n%s", diff)
	}
}
