package api

import (
	"testing"

	"commander/fleet/schema"
	"commander/store"
)

const hosts = `{"name": "Hosts", "slug": "hosts", "exclusive": true,
	"params": [{"key": "address", "type": "string", "title": "Address", "format": "ipv4", "unique": true}, {"key": "password", "type": "string", "title": "Password", "format": "password", "optional": true}],
	"resources": [{"values": {"address": "10.0.0.1", "password": "correct horse"}}, {"values": {"address": "nowhere"}}, {"values": {"address": "10.0.0.1"}}]}`

func TestTheInventoryForPrograms(t *testing.T) {
	t.Parallel()
	b := start(t)
	report := b.get(t, 200, b.full, "POST", "/catalogs", hosts)
	if report["taken"] != 1.0 || report["created"] != true || len(report["refused"].([]any)) != 2 {
		t.Fatalf("got %v", report)
	}
	made := report["catalog"].(object)
	_, answer := b.ask(t, b.reader, "GET", "/records", "")
	records := parse[[]object](t, answer)
	if len(records) != 1 || records[0]["cluster_id"] != nil || records[0]["schema_matches"] != true || records[0]["values"].(object)["password"] != schema.Mask {
		t.Fatalf("records: got %s", answer)
	}
	first := b.get(t, 201, b.full, "POST", "/records", encode(t, object{"catalog_id": made["id"], "values": object{"address": "10.0.0.2"}}))
	path := "/records/" + first["id"].(string)
	changed := b.get(t, 200, b.full, "PUT", path, encode(t, object{"current_revision": 1, "values": object{"address": "10.0.0.3"}}))
	if changed["current_revision"] != 2.0 || changed["values"].(object)["address"] != "10.0.0.3" {
		t.Errorf("got %v", changed)
	}
	foreign := b.token(t, elsewhere(t, b), store.RoleFull)
	for _, c := range []struct {
		name, token, method, path, body string
		code                            int
		word                            string
	}{
		{"stale", b.full, "PUT", path, `{"current_revision": 1, "values": {"address": "10.0.0.4"}}`, 409, "stale_revision"},
		{"not unique", b.full, "POST", "/records", encode(t, object{"catalog_id": made["id"], "values": object{"address": "10.0.0.3"}}), 422, "invalid"},
		{"nothing in it", b.full, "POST", "/records", "{}", 400, "missing_attributes"},
		{"a reader", b.reader, "DELETE", path, "", 403, "forbidden"},
		{"a reader imports", b.reader, "POST", "/catalogs", hosts, 403, "forbidden"},
		{"another workspace's record", foreign, "GET", path, "", 404, "not_found"},
		{"another workspace's catalog", foreign, "GET", "/catalogs/" + made["id"].(string), "", 404, "not_found"},
		{"into another workspace's catalog", foreign, "POST", "/records", encode(t, object{"catalog_id": made["id"], "values": object{"address": "10.0.0.9"}}), 404, "not_found"},
	} {
		if got := b.get(t, c.code, c.token, c.method, c.path, c.body); got["error"] != c.word {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
	if gone := b.get(t, 200, b.full, "POST", path+"/archive", ""); gone["archived_at"] == nil {
		t.Errorf("archived: got %v", gone)
	}
	twin := b.get(t, 201, b.full, "POST", "/records", encode(t, object{"catalog_id": made["id"], "values": object{"address": "10.0.0.3"}}))
	if refused := b.get(t, 409, b.full, "POST", path+"/restore", ""); refused["error"] != "twin" {
		t.Errorf("its address is taken: got %v", refused)
	}
	b.get(t, 200, b.full, "DELETE", "/records/"+twin["id"].(string), "")
	if back := b.get(t, 200, b.full, "POST", path+"/restore", ""); back["archived_at"] != nil {
		t.Errorf("restored: got %v", back)
	}
	b.get(t, 200, b.full, "DELETE", path, "")
	b.get(t, 404, b.full, "GET", path, "")
	place := "/catalogs/" + made["id"].(string)
	change := object{"current_revision": 1, "name": "Machines", "params": made["params"]}
	if after := b.get(t, 200, b.full, "PUT", place, encode(t, change)); after["name"] != "Machines" || after["current_revision"] != 2.0 {
		t.Errorf("renamed: got %v", after)
	}
	if stale := b.get(t, 409, b.full, "PUT", place, encode(t, change)); stale["error"] != "stale_revision" {
		t.Errorf("stale: got %v", stale)
	}
	b.get(t, 400, b.full, "PUT", place, "{}")
	if gone := b.get(t, 200, b.full, "POST", place+"/archive", ""); gone["archived_at"] == nil {
		t.Errorf("archived: got %v", gone)
	}
	b.get(t, 200, b.full, "POST", place+"/restore", "")
	if _, answer = b.ask(t, b.full, "GET", "/records", ""); len(parse[[]object](t, answer)) != 1 {
		t.Errorf("a deleted record is still there: %s", answer)
	}
}

func elsewhere(t *testing.T, b *bench) store.Workspace {
	t.Helper()
	w, err := b.EnsureWorkspace(t.Context(), "elsewhere", "")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRegistriesForPrograms(t *testing.T) {
	t.Parallel()
	b := start(t)
	made := b.get(t, 201, b.full, "POST", "/registries", `{"name": "Main", "images_repo": "registry.example.com/platform", "username": "u", "password": "correct horse"}`)
	path := "/registries/" + made["id"].(string)
	if made["password"] != nil {
		t.Errorf("got %v", made)
	}
	cluster := b.get(t, 201, b.full, "POST", "/clusters", encode(t, object{
		"name": "first", "cluster_template_version_id": b.Lab.ID, "registry_id": made["id"], "registry_mode": "Unmanaged", "values": object{},
	}))
	if cluster["registry_id"] != made["id"] || cluster["registry_mode"] != "Unmanaged" {
		t.Errorf("got %v %v", cluster["registry_id"], cluster["registry_mode"])
	}
	if got := b.get(t, 409, b.full, "DELETE", path, ""); got["error"] != "used" {
		t.Errorf("got %v", got)
	}
	changed := b.get(t, 200, b.full, "PUT", path, `{"current_revision": 1, "name": "Renamed", "images_repo": "registry.example.com/platform", "username": "u"}`)
	if changed["name"] != "Renamed" || changed["current_revision"] != 2.0 {
		t.Errorf("got %v", changed)
	}
	foreign := b.token(t, elsewhere(t, b), store.RoleFull)
	b.get(t, 404, foreign, "GET", path, "")
	b.get(t, 403, b.reader, "PUT", path, `{"current_revision": 2, "name": "x", "images_repo": "registry.example.com/platform"}`)
}

func TestInventoryAndRegistriesAreDescribed(t *testing.T) {
	t.Parallel()
	b := start(t)
	described := b.described(t)
	report := b.get(t, 200, b.full, "POST", "/catalogs", hosts)
	_, listed := b.ask(t, b.full, "GET", "/records", "")
	for name, answer := range map[string]object{
		"ImportReport": report, "ImportProblem": report["refused"].([]any)[0].(object), "Catalog": report["catalog"].(object),
		"Record":   parse[[]object](t, listed)[0],
		"Registry": b.get(t, 201, b.full, "POST", "/registries", `{"name": "Main", "images_repo": "registry.example.com/platform"}`),
	} {
		described.hold(t, name, answer)
	}
}

func TestListsLeaveTheArchiveOut(t *testing.T) {
	t.Parallel()
	b := start(t)
	report := b.get(t, 200, b.full, "POST", "/catalogs", hosts)
	_, body := b.ask(t, b.full, "GET", "/records", "")
	record := parse[[]object](t, body)[0]["id"].(string)
	b.get(t, 200, b.full, "POST", "/records/"+record+"/archive", "")
	b.get(t, 200, b.full, "POST", "/catalogs/"+report["catalog"].(object)["id"].(string)+"/archive", "")
	template := b.get(t, 201, b.full, "POST", "/cluster_templates", `{"name": "old"}`)["id"].(string)
	b.get(t, 200, b.full, "DELETE", "/cluster_templates/"+template, "")
	for _, list := range []string{"/records", "/catalogs", "/cluster_templates"} {
		count := func(query string) (all, archived int) {
			_, body := b.ask(t, b.reader, "GET", list+query, "")
			for _, one := range parse[[]object](t, body) {
				if all++; one["archived_at"] != nil {
					archived++
					if one["archive_number"] == nil {
						t.Errorf("%s: what is archived has no number: %v", list, one)
					}
				}
			}
			return all, archived
		}
		all, archived := count("")
		left, none := count("?without_archived=true")
		if archived != 1 || none != 0 || left != all-1 {
			t.Errorf("%s: got %d with %d archived, and %d with %d without the archive", list, all, archived, left, none)
		}
	}
}
