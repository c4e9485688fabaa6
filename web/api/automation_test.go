package api

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
)

func TestMaintenanceWindowsForPrograms(t *testing.T) {
	t.Parallel()
	b := start(t)
	cluster := b.Installed(t, "first", nil)
	body := object{"cluster_id": cluster.ID, "time_zone": "Europe/Berlin", "days": []string{"monday", "sunday"}, "starts": "22:30", "minutes": 90}
	made := b.get(t, 201, b.full, "POST", "/maintenance_windows", encode(t, body))
	if made["starts"] != "22:30" || len(made["days"].([]any)) != 2 || made["cluster_id"] != cluster.ID.String() {
		t.Errorf("got %v", made)
	}
	b.described(t).hold(t, "MaintenanceWindow", made)
	_, listed := b.ask(t, b.reader, "GET", "/maintenance_windows", "")
	if all := parse[[]object](t, listed); len(all) != 1 || all[0]["id"] != made["id"] || all[0]["days"].([]any)[1] != "sunday" {
		t.Errorf("list: got %s", listed)
	}
	foreign := b.token(t, elsewhere(t, b), store.RoleFull)
	path := "/maintenance_windows/" + made["id"].(string)
	for name, wrong := range map[string]object{
		"time_zone": {"time_zone": "Middle/Earth"}, "days": {"days": []string{"someday"}}, "starts": {"starts": "25:00"}, "minutes": {"minutes": 0},
	} {
		bad := object{"time_zone": "UTC", "days": []string{"monday"}, "starts": "22:30", "minutes": 90}
		for key, value := range wrong {
			bad[key] = value
		}
		if got := b.get(t, 422, b.full, "POST", "/maintenance_windows", encode(t, bad)); got["details"].(object)[name] == nil || len(got["details"].(object)) != 1 {
			t.Errorf("%s: got %v", name, got)
		}
	}
	b.get(t, 400, b.full, "POST", "/maintenance_windows", "{}")
	b.get(t, 403, b.reader, "POST", "/maintenance_windows", encode(t, body))
	b.get(t, 404, foreign, "POST", "/maintenance_windows", encode(t, body))
	b.get(t, 404, foreign, "DELETE", path, "")
	b.get(t, 403, b.reader, "DELETE", path, "")
	if code, answer := b.ask(t, b.full, "DELETE", path, ""); code != 204 || len(answer) != 0 {
		t.Errorf("delete: got %d %s", code, answer)
	}
	b.get(t, 404, b.full, "DELETE", path, "")
}

func TestChannelsForPrograms(t *testing.T) {
	t.Parallel()
	b := start(t)
	body := object{"name": "duty", "kind": "webhook", "address": "https://hook.test/x", "events": fleet.Events}
	made := b.get(t, 201, b.full, "POST", "/notification_channels", encode(t, body))
	secret, _ := made["secret"].(string)
	if len(secret) < 40 {
		t.Fatalf("the secret of a webhook: got %v", made)
	}
	path := "/notification_channels/" + made["id"].(string)
	if code, _ := b.ask(t, b.full, "POST", path+"/test", ""); code != 204 {
		t.Errorf("test: got %d", code)
	}
	_, listed := b.ask(t, b.reader, "GET", "/notification_channels", "")
	all := parse[[]object](t, listed)
	if len(all) != 1 || all[0]["last"].(object)["event"] != fleet.EventTest || strings.Contains(string(listed), secret) || strings.Contains(string(listed), "secret") {
		t.Errorf("list: got %s", listed)
	}
	d := b.described(t)
	d.hold(t, "NewNotificationChannelAnswer", made)
	d.hold(t, "NotificationChannel", all[0])
	mail := b.get(t, 201, b.full, "POST", "/notification_channels", encode(t, object{"name": "box", "kind": "mail", "address": "duty@example.com", "events": []string{fleet.EventTaskLost}}))
	if mail["secret"] != nil || mail["last"] != nil {
		t.Errorf("a mailbox: got %v", mail)
	}
	if taken := b.get(t, 422, b.full, "POST", "/notification_channels", encode(t, body)); taken["details"].(object)["name"] == nil {
		t.Errorf("a name twice: got %v", taken)
	}
	foreign := b.token(t, elsewhere(t, b), store.RoleFull)
	b.get(t, 400, b.full, "POST", "/notification_channels", "{}")
	b.get(t, 403, b.reader, "POST", "/notification_channels", encode(t, body))
	b.get(t, 403, b.reader, "POST", path+"/test", "")
	b.get(t, 404, foreign, "POST", path+"/test", "")
	b.get(t, 404, foreign, "DELETE", path, "")
	if code, _ := b.ask(t, b.full, "DELETE", path, ""); code != 204 {
		t.Errorf("delete: got %d", code)
	}
}

// A token is for one workspace, so a move between two takes one of each.
func TestAClusterGoesToAnotherWorkspace(t *testing.T) {
	t.Parallel()
	b := start(t)
	cluster := b.Installed(t, "first", nil)
	path := "/clusters/" + cluster.ID.String() + "/move"
	there := elsewhere(t, b)
	target := object{"target_token": b.token(t, there, store.RoleFull)}
	plan := b.get(t, 200, b.full, "POST", path+"/preview", encode(t, target))
	if plan["workspace_id"] != there.ID.String() || len(plan["moved_records"].([]any)) != 0 {
		t.Errorf("preview: got %v", plan)
	}
	b.described(t).hold(t, "MovePlan", plan)
	b.get(t, 400, b.full, "POST", path, "{}")
	b.get(t, 403, b.reader, "POST", path, encode(t, target))
	b.get(t, 403, b.full, "POST", path, encode(t, object{"target_token": b.token(t, there, store.RoleReadOnly)}))
	if unknown := b.get(t, 422, b.full, "POST", path, `{"target_token": "cmdr_x"}`); unknown["details"].(object)["target_token"] == nil {
		t.Errorf("an unknown token: got %v", unknown)
	}
	// A reader's token does not become more by a full one of the same workspace beside it.
	b.get(t, 403, b.reader, "POST", path, encode(t, object{"target_token": b.full}))
	moved := b.get(t, 200, b.full, "POST", path, encode(t, target))
	if moved["cluster_template_version_id"] != nil {
		t.Errorf("the template went along: %v", moved)
	}
	b.get(t, 404, b.full, "GET", "/clusters/"+cluster.ID.String(), "")
	b.get(t, 200, target["target_token"].(string), "GET", "/clusters/"+cluster.ID.String(), "")
}

func TestTasksForPrograms(t *testing.T) {
	t.Parallel()
	b := start(t)
	cluster := b.Installed(t, "first", nil)
	path := "/clusters/" + cluster.ID.String()
	b.get(t, 200, b.full, "POST", path+"/converge", "")
	_, listed := b.ask(t, b.reader, "GET", path+"/tasks", "")
	all := parse[[]object](t, listed)
	if len(all) != 2 || all[0]["kind"] != "converge" || all[0]["status"] != "queued" || all[1]["status"] != "succeeded" {
		t.Fatalf("tasks of the cluster: got %s", listed)
	}
	id := all[0]["id"].(string)
	d := fleet.Delivery{TaskID: uuid.MustParse(id), Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "test"); err != nil {
		t.Fatal(err)
	}
	if err := b.AppendLog(t.Context(), d, 1, []string{"one", "two"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed, Error: "no power"}); err != nil {
		t.Fatal(err)
	}
	shown := b.get(t, 200, b.reader, "GET", "/tasks/"+id, "")
	if shown["status"] != "failed" || shown["failure"] != "no power" || shown["finished_at"] == nil {
		t.Errorf("failed: got %v", shown)
	}
	_, log := b.ask(t, b.reader, "GET", "/tasks/"+id+"/log", "")
	chunks := parse[[]object](t, log)
	last := chunks[len(chunks)-1]
	if !strings.Contains(string(log), `one\ntwo`) || last["first_line"].(float64) < 1 {
		t.Errorf("log: got %s", log)
	}
	described := b.described(t)
	described.hold(t, "Task", shown)
	described.hold(t, "LogChunk", any(last))
	if _, more := b.ask(t, b.reader, "GET", "/tasks/"+id+"/log?after="+encode(t, last["sequence"]), ""); len(parse[[]object](t, more)) != 0 {
		t.Errorf("after the last: got %s", more)
	}
	if none := b.get(t, 409, b.full, "POST", "/tasks/"+id+"/give_up", ""); none["error"] == "" {
		t.Errorf("giving up what is not lost: got %v", none)
	}
	b.get(t, 403, b.reader, "POST", "/tasks/"+id+"/retry", "")
	if again := b.get(t, 200, b.full, "POST", "/tasks/"+id+"/retry", ""); again["status"] != "queued" || again["attempt"] != 2.0 {
		t.Errorf("retry: got %v", again)
	}
	if stopped := b.get(t, 200, b.full, "POST", "/tasks/"+id+"/stop", ""); stopped["status"] != "cancelled" || strings.HasPrefix(stopped["failure"].(string), "task.") {
		t.Errorf("stop of what waits: got %v", stopped)
	}
	_, some := b.ask(t, b.reader, "GET", "/tasks?status=succeeded&limit=1", "")
	if only := parse[[]object](t, some); len(only) != 1 || only[0]["kind"] != "bootstrap" {
		t.Errorf("filtered: got %s", some)
	}
	b.get(t, 400, b.full, "GET", "/tasks?limit=0", "")
	foreign := b.token(t, elsewhere(t, b), store.RoleFull)
	b.get(t, 404, foreign, "GET", "/tasks/"+id, "")
	b.get(t, 404, foreign, "GET", "/tasks/"+id+"/log", "")
	b.get(t, 404, foreign, "POST", "/tasks/"+id+"/retry", "")
	b.get(t, 404, foreign, "GET", path+"/tasks", "")
}

func TestArchivingWithoutCleaningUp(t *testing.T) {
	t.Parallel()
	b := start(t)
	cluster := b.Installed(t, "first", nil)
	path := "/clusters/" + cluster.ID.String()
	b.get(t, 200, b.full, "PATCH", path, `{"is_locked": true}`)
	if locked := b.get(t, 409, b.full, "POST", path+"/archive", ""); locked["error"] != "locked" {
		t.Errorf("protected: got %v", locked)
	}
	b.get(t, 200, b.full, "PATCH", path, `{"is_locked": false}`)
	b.get(t, 403, b.reader, "POST", path+"/archive", "")
	if gone := b.get(t, 200, b.full, "POST", path+"/archive", ""); gone["archived_at"] == nil {
		t.Errorf("archived: got %v", gone)
	}
	b.Installed(t, "first", nil) // the name is free
}
