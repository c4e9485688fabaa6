package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
)

// versioned makes a template with a version for each schema, and returns their ids.
func (b *bench) versioned(t *testing.T, params ...string) []string {
	t.Helper()
	var ids []string
	method, path, revision := "POST", "/cluster_templates", any(nil)
	for _, text := range params {
		answer := encode(t, object{"name": "team", "current_revision": revision, "params_text": text, "cluster_configuration_template": "kind: ClusterConfiguration\ncount: {{ .count }}\n"})
		code, body := b.ask(t, b.full, method, path, answer)
		made := parse[object](t, body)
		if code >= 300 {
			t.Fatalf("make a template: got %d %s", code, body)
		}
		ids = append(ids, made["cluster_template_versions"].([]any)[0].(object)["id"].(string))
		method, path, revision = "PUT", "/cluster_templates/"+made["id"].(string), made["current_revision"]
	}
	return ids
}

// installed is a cluster on a version, ready for changes.
func (b *bench) installed(t *testing.T, version, name string, values store.Values) store.Cluster {
	t.Helper()
	cluster, task, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: uuid.MustParse(version), Values: values, Install: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t, *task, store.TaskSucceeded)
	return cluster
}

func TestAClusterIsMovedToAVersionByAProgram(t *testing.T) {
	t.Parallel()
	b := start(t)
	const password = "- {key: password, type: string, title: Password, format: password, optional: true}\n"
	versions := b.versioned(t, "- {key: count, type: number, title: Workers, default: 2}\n"+password,
		"- {key: count, type: number, title: Workers, default: 5}\n- {key: zone, type: string, title: Zone}\n"+password)
	first, second := versions[0], versions[1]
	cluster := b.installed(t, first, "first", store.Values{"password": "correct horse"})
	path := "/clusters/" + cluster.ID.String()
	ask := object{"cluster_template_version_id": second}
	plan := b.get(t, 200, b.reader, "POST", path+"/upgrade/preview", encode(t, ask))
	outcomes := map[string]string{}
	for _, item := range plan["items"].([]any) {
		outcomes[item.(object)["key"].(string)] = item.(object)["outcome"].(string)
	}
	if plan["is_ready"] != false || !slices.Equal(plan["open"].([]any), []any{"zone"}) || outcomes["count"] != "followed" || outcomes["zone"] != "asked" || outcomes["password"] != "kept" {
		t.Fatalf("preview: got %v", plan)
	}
	d := b.described(t)
	d.hold(t, "Upgrade", plan)
	d.hold(t, "UpgradeItem", plan["items"].([]any)[0])
	d.hold(t, "Rendered", plan["after"])
	if text := encode(t, plan); strings.Contains(text, "correct horse") {
		t.Errorf("the preview tells a secret: %s", text)
	}
	before, after := plan["before"].(object)["cluster_configuration_rendered"].(string), plan["after"].(object)["cluster_configuration_rendered"].(string)
	if !strings.Contains(before, "count: 2") || !strings.Contains(after, "count: 5") {
		t.Errorf("what is rendered: got %s and %s", before, after)
	}
	ask["current_revision"] = plan["current_revision"]
	refused := b.get(t, 422, b.full, "POST", path+"/upgrade", encode(t, ask))
	if details := refused["details"].(object); details[fleet.ValueField("zone")] == nil {
		t.Errorf("without an answer: got %v", refused)
	}
	ask["answers"] = object{"zone": "a"}
	if ready := b.get(t, 200, b.reader, "POST", path+"/upgrade/preview", encode(t, ask)); ready["is_ready"] != true {
		t.Errorf("with an answer: got %v", ready)
	}
	foreign := b.token(t, elsewhere(t, b), store.RoleFull)
	for _, c := range []struct {
		name, token, path string
		change            object
		code              int
		word              string
	}{
		{"a reader moves", b.reader, "", nil, 403, "forbidden"},
		{"another workspace's", foreign, "", nil, 404, "not_found"},
		{"another workspace's preview", foreign, "/preview", nil, 404, "not_found"},
		{"no version", b.full, "", object{"cluster_template_version_id": nil}, 400, "missing_attributes"},
		{"no revision", b.full, "", object{"current_revision": nil}, 400, "missing_attributes"},
		{"unknown version", b.full, "", object{"cluster_template_version_id": uuid.NewString()}, 422, "invalid"},
		{"no id", b.full, "/preview", object{"cluster_template_version_id": "x"}, 422, "invalid"},
		{"stale", b.full, "", object{"current_revision": 77}, 409, "stale_revision"},
		{"the same", b.full, "/preview", object{"cluster_template_version_id": first}, 409, "same"},
	} {
		body := object{}
		for key, value := range ask {
			body[key] = value
		}
		for key, value := range c.change {
			body[key] = value
		}
		if got := b.get(t, c.code, c.token, "POST", path+"/upgrade"+c.path, encode(t, body)); got["error"] != c.word {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
	moved := b.get(t, 200, b.full, "POST", path+"/upgrade", encode(t, ask))
	if moved["cluster_template_version_id"] != second || moved["status"] != "updating" || moved["values"].(object)["zone"] != "a" {
		t.Errorf("after the move: got %v", moved)
	}
}

func TestManyClustersAreMovedByAProgram(t *testing.T) {
	t.Parallel()
	b := start(t)
	v := b.plain(t)
	var ids []string
	var targets []object
	for _, name := range []string{"a", "b", "c"} {
		cluster := b.installed(t, v[0], name, nil)
		ids, targets = append(ids, cluster.ID.String()), append(targets, object{"id": cluster.ID, "current_revision": cluster.Revision})
	}
	found := b.get(t, 200, b.reader, "GET", "/cluster_switches/candidates?cluster_template_version_id="+v[1], "")
	if found["total"] != 3.0 || found["clusters"].([]any)[0].(object)["version"] != 1.0 {
		t.Errorf("candidates: got %v", found)
	}
	stranger := uuid.NewString()
	code, body := b.ask(t, b.reader, "POST", "/cluster_switches/preview", encode(t, object{"cluster_template_version_id": v[1], "cluster_ids": append(ids, stranger)}))
	previews := parse[[]object](t, body)
	if code != 200 || len(previews) != 4 || previews[0]["refusal"] != nil || previews[0]["upgrade"].(object)["is_ready"] != true {
		t.Fatalf("preview: got %d %s", code, body)
	}
	if last := previews[3]; last["refusal"] == nil || last["upgrade"] != nil {
		t.Errorf("an unknown cluster: got %v", last)
	}
	targets[1]["current_revision"] = 77 // somebody changed it since
	wanted := object{"cluster_template_version_id": v[1], "clusters": targets, "wave_size": 2, "parallel": 1, "request_id": uuid.NewString()}
	b.get(t, 403, b.reader, "POST", "/cluster_switches", encode(t, wanted))
	made := b.get(t, 201, b.full, "POST", "/cluster_switches", encode(t, wanted))
	if again := b.get(t, 201, b.full, "POST", "/cluster_switches", encode(t, wanted)); again["id"] != made["id"] {
		t.Errorf("the same request makes another move: %v", again)
	}
	if made["status"] != "running" || made["stop_at_failure"] != true || made["counts"].(object)["waiting"] != 3.0 {
		t.Errorf("made: got %v", made)
	}
	d := b.described(t)
	d.hold(t, "SwitchCandidates", found)
	d.hold(t, "SwitchPreview", previews[0])
	d.hold(t, "ClusterSwitch", made)
	d.hold(t, "SwitchedCluster", made["clusters"].([]any)[0])
	path := "/cluster_switches/" + made["id"].(string)
	if _, err := b.ContinueSwitch(t.Context(), uuid.MustParse(made["id"].(string))); err != nil {
		t.Fatal(err)
	}
	now := b.get(t, 200, b.reader, "GET", path, "")
	lines := now["clusters"].([]any)
	if lines[0].(object)["status"] != "running" || lines[2].(object)["wave"] != 2.0 {
		t.Errorf("the first look: got %v", now)
	}
	cancelled := b.get(t, 200, b.full, "POST", path+"/cancel", "")
	if cancelled["status"] != "cancelled" || cancelled["counts"].(object)["skipped"] != 2.0 {
		t.Errorf("cancelled: got %v", cancelled)
	}
	if over := b.get(t, 409, b.full, "POST", path+"/cancel", ""); over["error"] != "over" {
		t.Errorf("again: got %v", over)
	}
	only := b.get(t, 200, b.reader, "GET", path+"?status=skipped", "")["clusters"].([]any)
	if len(only) != 2 || only[0].(object)["reason"] == nil {
		t.Errorf("the skipped ones: got %v", only)
	}
	template := made["cluster_template_id"].(string)
	_, listed := b.ask(t, b.reader, "GET", "/cluster_switches?cluster_template_id="+template, "")
	if len(parse[[]object](t, listed)) != 1 {
		t.Fatalf("list: got %s", listed)
	}
	d.hold(t, "ClusterSwitchSummary", parse[[]object](t, listed)[0])
	foreign := b.token(t, elsewhere(t, b), store.RoleFull)
	b.get(t, 404, foreign, "GET", path, "")
	b.get(t, 404, foreign, "POST", path+"/cancel", "")
	b.get(t, 404, foreign, "GET", "/cluster_switches?cluster_template_id="+template, "")
	b.get(t, 404, foreign, "POST", "/cluster_switches", encode(t, wanted))
	b.get(t, 400, b.full, "POST", "/cluster_switches", `{"cluster_template_version_id": "x"}`)
	b.get(t, 400, b.full, "POST", "/cluster_switches", encode(t, object{"cluster_template_version_id": v[1], "clusters": []object{{"id": ids[0]}}}))
	wanted["parallel"], wanted["request_id"] = 0, nil
	if bad := b.get(t, 422, b.full, "POST", "/cluster_switches", encode(t, wanted)); bad["details"].(object)["parallel"] == nil {
		t.Errorf("no parallel changes: got %v", bad)
	}
}

// A refused cluster says why, in the language that is asked for, and keeps what it has.
func TestARefusedClusterSaysWhy(t *testing.T) {
	t.Parallel()
	b := start(t)
	v := b.plain(t)
	cluster := b.installed(t, v[0], "a", nil)
	made := b.get(t, 201, b.full, "POST", "/cluster_switches", encode(t, object{
		"cluster_template_version_id": v[1], "clusters": []object{{"id": cluster.ID, "current_revision": 77}},
	}))
	for range 2 {
		if _, err := b.ContinueSwitch(t.Context(), uuid.MustParse(made["id"].(string))); err != nil {
			t.Fatal(err)
		}
	}
	over := b.get(t, 200, b.reader, "GET", "/cluster_switches/"+made["id"].(string), "")
	line := over["clusters"].([]any)[0].(object)
	if over["status"] != "finished" || over["finished_at"] == nil || line["status"] != "refused" || strings.Contains(line["reason"].(string), "{0}") || !strings.Contains(line["reason"].(string), " ") {
		t.Errorf("got %v", over)
	}
}

// plain are the ids of two versions that need no answers.
func (b *bench) plain(t *testing.T) []string {
	t.Helper()
	return b.versioned(t, "- {key: count, type: number, title: Workers, default: 1}\n", "- {key: count, type: number, title: Workers, default: 2}\n")
}
