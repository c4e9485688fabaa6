package api

import (
	"strings"
	"testing"

	"commander/store"
)

func TestTemplatesForPrograms(t *testing.T) {
	t.Parallel()
	b := start(t)
	const body = `{"name": "team", "comment": "ours", "version_comment": "first", "params_text": "- key: count # of workers\n  type: number\n  title: Workers\n  default: 2\n",
		"cluster_configuration_template": "kind: ClusterConfiguration\ncount: {{ .count }}\n", "kubernetes_resource_groups": [{"name": "base", "controlled": true, "template": "kind: A\n"}]}`
	made := b.get(t, 201, b.full, "POST", "/cluster_templates", body)
	path := "/cluster_templates/" + made["id"].(string)
	version := made["cluster_template_versions"].([]any)[0].(object)
	if version["comment"] != "first" || version["available"] != true || !strings.Contains(version["params_text"].(string), "# of workers") {
		t.Fatalf("got %v", version)
	}
	changed := b.get(t, 200, b.full, "PUT", path, encode(t, object{"current_revision": made["current_revision"], "init_configuration_template": "a: 1\n", "version_comment": "second"}))
	versions := changed["cluster_template_versions"].([]any)
	newest := versions[0].(object)
	if len(versions) != 2 || newest["version"] != 2.0 || newest["cluster_configuration_template"] != version["cluster_configuration_template"] || changed["name"] != "team" {
		t.Fatalf("what was not sent is gone: %v", changed)
	}
	withdrawn := b.get(t, 200, b.full, "PUT", path+"/versions/1", `{"available": false}`)
	if withdrawn["available"] != false || withdrawn["comment"] != "first" {
		t.Errorf("got %v", withdrawn)
	}
	b.get(t, 409, b.full, "POST", path+"/versions/1/use", "{}")
	b.get(t, 200, b.full, "PUT", path+"/versions/1", `{"available": true, "comment": "again"}`)
	b.get(t, 200, b.full, "POST", path+"/versions/1/use", "{}")
	if now := b.get(t, 200, b.reader, "GET", path, ""); now["current_cluster_template_version_id"] != version["id"] {
		t.Errorf("got %v", now)
	}
	if _, listed := b.ask(t, b.reader, "GET", path+"/versions", ""); len(parse[[]object](t, listed)) != 2 {
		t.Errorf("got %s", listed)
	}

	code, file := b.ask(t, b.reader, "GET", path+"/export", "")
	if code != 200 {
		t.Fatalf("export: %d %s", code, file)
	}
	arrived := b.get(t, 201, b.full, "POST", "/cluster_templates/import", encode(t, object{"file": string(file), "name": "arrived"}))
	if len(arrived["cluster_template_versions"].([]any)) != 2 || arrived["name"] != "arrived" {
		t.Errorf("got %v", arrived)
	}
	foreign := b.token(t, elsewhere(t, b), store.RoleFull)
	for _, c := range []struct {
		name, token, method, path, body string
		code                            int
		word                            string
	}{
		{"no name", b.full, "POST", "/cluster_templates", "{}", 400, "missing_attributes"},
		{"name taken", b.full, "POST", "/cluster_templates", body, 422, "invalid"},
		{"broken template", b.full, "POST", "/cluster_templates", `{"name": "x", "cluster_configuration_template": "{{ nope }}"}`, 422, "invalid"},
		{"reserved group", b.full, "POST", "/cluster_templates", `{"name": "x", "kubernetes_resource_groups": [{"name": "commander-access"}]}`, 422, "invalid"},
		{"no revision", b.full, "PUT", path, "{}", 400, "missing_attributes"},
		{"stale", b.full, "PUT", path, `{"current_revision": 1, "name": "other"}`, 409, "stale_revision"},
		{"no such version", b.full, "GET", path + "/versions/7", "", 404, "not_found"},
		{"no number", b.full, "GET", path + "/versions/x", "", 404, "not_found"},
		{"no template", b.full, "POST", "/cluster_templates/import", `{"file": "a: 1"}`, 422, "invalid"},
		{"a reader", b.reader, "PUT", path + "/versions/1", `{"available": false}`, 403, "forbidden"},
		{"a reader archives", b.reader, "DELETE", path, "", 403, "forbidden"},
		{"another workspace", foreign, "GET", path, "", 404, "not_found"},
		{"another workspace's export", foreign, "GET", path + "/export", "", 404, "not_found"},
	} {
		if got := b.get(t, c.code, c.token, c.method, c.path, c.body); got["error"] != c.word {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
	if gone := b.get(t, 200, b.full, "DELETE", path, ""); gone["archived_at"] == nil {
		t.Errorf("got %v", gone)
	}
	if back := b.get(t, 200, b.full, "POST", path+"/restore", "{}"); back["archived_at"] != nil {
		t.Errorf("got %v", back)
	}
}
