package api

import (
	"strings"
	"testing"

	"commander/fleet"
	"commander/store"
)

func TestSettingsHistoryAndRollback(t *testing.T) {
	t.Parallel()
	b := start(t)
	made := b.Installed(t, "first", store.Values{"workerCount": 2.0, "adminPassword": "correct horse"})
	path := "/clusters/" + made.ID.String()

	before := b.get(t, 200, b.reader, "GET", path+"/settings", "")
	if manager := before["cluster_manager"].(object); manager["check_interval"] != 1.0 || manager["sync"].(object)["mode"] != "auto" || before["is_locked"] != false {
		t.Errorf("settings of a new cluster: got %v", before)
	}
	after := b.get(t, 200, b.full, "PUT", path+"/settings", `{"cluster_manager": {"sync": {"mode": "manual"}}, "is_locked": true}`)
	if manager := after["cluster_manager"].(object); manager["check_interval"] != 1.0 || manager["sync"].(object)["mode"] != "manual" || after["is_locked"] != true {
		t.Errorf("what was left out did not stay: got %v", after)
	}
	if locked := b.get(t, 409, b.full, "DELETE", path, ""); locked["error"] != "locked" {
		t.Errorf("deletion of a protected cluster: got %v", locked)
	}
	b.get(t, 422, b.full, "PUT", path+"/settings", `{"cluster_manager": {"check_interval": 0}}`)
	b.get(t, 403, b.reader, "PUT", path+"/settings", `{"is_locked": false}`)

	b.get(t, 200, b.full, "PUT", path+"/settings", `{"cluster_manager": {"sync": {"mode": "auto"}}}`)
	_, task, err := b.ChangeCluster(t.Context(), b.Admin, made.ID, fleet.ClusterChange{
		Revision: 1, Name: "first", TemplateVersionID: b.Lab.ID, Values: store.Values{"workerCount": 5.0},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t, *task, store.TaskSucceeded)
	code, body := b.ask(t, b.reader, "GET", path+"/revisions", "")
	listed := parse[[]object](t, body)
	if code != 200 || len(listed) != 2 || listed[0]["is_desired"] != true || listed[1]["is_applied"] != false || strings.Contains(string(body), "correct horse") {
		t.Errorf("history: got %d %s", code, body)
	}
	sides := b.get(t, 200, b.reader, "GET", path+"/comparison?from=1&to=desired", "")
	text := func(side string) string {
		return sides[side].(object)["provider_specific_cluster_configuration_rendered"].(string)
	}
	if !strings.Contains(text("from"), "replicas: 2") || !strings.Contains(text("to"), "replicas: 5") {
		t.Errorf("comparison: got %v", sides)
	}
	b.get(t, 400, b.reader, "GET", path+"/comparison?from=1", "")
	b.get(t, 404, b.reader, "GET", path+"/comparison?from=1&to=77", "")

	if stale := b.get(t, 409, b.full, "POST", path+"/rollback", `{"current_revision": 1, "revision": 1}`); stale["error"] != "stale_revision" {
		t.Errorf("from a stale revision: got %v", stale)
	}
	back := b.get(t, 200, b.full, "POST", path+"/rollback", `{"current_revision": 2, "revision": 1}`)
	if back["current_revision"] != 3.0 || back["status"] != "updating" || !strings.Contains(back["desired_provider_specific_cluster_configuration_rendered"].(string), "replicas: 2") {
		t.Errorf("after the return: got %v %v", back["current_revision"], back["status"])
	}
}

func TestChangeRequestsAreApprovedOnce(t *testing.T) {
	t.Parallel()
	b := start(t)
	made := b.Installed(t, "first", nil)
	task, err := b.Converge(t.Context(), b.Admin, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	waits := func(attempt int, change string) {
		t.Helper()
		d := fleet.Delivery{TaskID: task.ID, Attempt: attempt}
		if _, err := b.Claim(t.Context(), d, "worker"); err != nil {
			t.Fatal(err)
		}
		if err := b.Finish(t.Context(), d, fleet.Ending{
			Status: store.TaskWaitingApproval, ChangeID: change, Result: []byte(`{"check_result": {"status_details": {"nodes": []}}}`),
		}); err != nil {
			t.Fatal(err)
		}
	}
	list := func() []object {
		t.Helper()
		code, body := b.ask(t, b.reader, "GET", "/cluster_change_requests?cluster_id="+made.ID.String(), "")
		if code != 200 {
			t.Fatalf("list: got %d %s", code, body)
		}
		return parse[[]object](t, body)
	}
	if none := list(); len(none) != 0 {
		t.Errorf("before anything asked: got %v", none)
	}
	waits(1, "set one")
	first := list()
	if len(first) != 1 || first[0]["status"] != "pending" || first[0]["cluster_id"] != made.ID.String() || first[0]["status_details"] == nil {
		t.Fatalf("pending: got %v", first)
	}
	path := "/cluster_change_requests/" + first[0]["id"].(string) + "/approve"
	b.get(t, 403, b.reader, "POST", path, "")
	if got := b.get(t, 200, b.full, "POST", path, ""); got["status"] != "approved" {
		t.Errorf("approved: got %v", got)
	}
	if again := b.get(t, 409, b.full, "POST", path, ""); again["error"] != "already_approved" {
		t.Errorf("again: got %v", again)
	}
	waits(2, "set two")
	b.get(t, 404, b.full, "POST", path, "") // the set is another one
	second := list()
	if second[0]["id"] == first[0]["id"] || second[0]["status"] != "pending" {
		t.Errorf("another set: got %v", second)
	}
	path = "/cluster_change_requests/" + second[0]["id"].(string) + "/approve"
	b.get(t, 200, b.full, "POST", path, "")
	d := fleet.Delivery{TaskID: task.ID, Attempt: 3}
	if _, err := b.Claim(t.Context(), d, "worker"); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskSucceeded}); err != nil {
		t.Fatal(err)
	}
	if over := b.get(t, 409, b.full, "POST", path, ""); over["error"] != "already_completed" {
		t.Errorf("over: got %v", over)
	}
	b.get(t, 400, b.full, "GET", "/cluster_change_requests?cluster_id=x", "")
}

func TestAGroupIsSwitchedByAProgram(t *testing.T) {
	t.Parallel()
	b := start(t)
	made := b.get(t, 201, b.full, "POST", "/cluster_templates", `{"name": "team", "cluster_configuration_template": "kind: ClusterConfiguration\n",
		"kubernetes_resource_groups": [{"name": "free", "controlled": true, "user_managed": true, "template": "kind: A\n"}, {"name": "fixed", "template": "kind: B\n"}]}`)
	cluster := b.installed(t, made["current_cluster_template_version_id"].(string), "first", nil)
	path := "/clusters/" + cluster.ID.String()
	settings := b.get(t, 200, b.reader, "GET", path+"/settings", "")
	b.described(t).hold(t, "ClusterSettings", settings)
	first := settings["kubernetes_resource_groups"].([]any)[0].(object)
	if first["name"] != "free" || first["controlled"] != true || first["can_change"] != true {
		t.Errorf("before: got %v", settings)
	}
	after := b.get(t, 200, b.full, "PUT", path+"/settings", `{"kubernetes_resource_groups": [{"name": "free", "controlled": false}]}`)
	if after["kubernetes_resource_groups"].([]any)[0].(object)["controlled"] != false {
		t.Errorf("after: got %v", after)
	}
	shown := b.get(t, 200, b.reader, "GET", path, "")
	if shown["cluster_kubernetes_resource_group_versions_rendered"].([]any)[0].(object)["controlled"] != false {
		t.Errorf("the cluster: got %v", shown)
	}
	if fixed := b.get(t, 409, b.full, "PUT", path+"/settings", `{"kubernetes_resource_groups": [{"name": "fixed", "controlled": true}]}`); fixed["error"] != "fixed" {
		t.Errorf("what the template decides: got %v", fixed)
	}
	b.get(t, 400, b.full, "PUT", path+"/settings", `{"kubernetes_resource_groups": [{"name": "free"}]}`)
	b.get(t, 403, b.reader, "PUT", path+"/settings", `{"kubernetes_resource_groups": [{"name": "free", "controlled": true}]}`)
}
