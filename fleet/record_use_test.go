package fleet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// withRecords is a version of the preset Lab that asks for records as well.
func withRecords(t *testing.T, b *fleettest.Bench, fields string) uuid.UUID {
	t.Helper()
	var blocks []json.RawMessage
	if err := json.Unmarshal(b.Lab.Params, &blocks); err != nil {
		t.Fatal(err)
	}
	var more []json.RawMessage
	if err := json.Unmarshal([]byte(fields), &more); err != nil {
		t.Fatal(err)
	}
	params, err := json.Marshal(append(blocks, more...))
	if err != nil {
		t.Fatal(err)
	}
	template, err := b.Store.InsertTemplate(t.Context(), store.InsertTemplateParams{WorkspaceID: b.Workspace.ID, Name: "With records " + uuid.NewString()})
	if err != nil {
		t.Fatal(err)
	}
	version, err := b.Store.InsertTemplateVersion(t.Context(), store.InsertTemplateVersionParams{
		TemplateID: template.ID, Params: params, ClusterConfiguration: b.Lab.ClusterConfiguration,
		ProviderConfiguration: b.Lab.ProviderConfiguration, InitConfiguration: b.Lab.InitConfiguration, CreatedBy: "test",
		ResourceGroups: store.ResourceGroups{{Name: "hosts", Template: "{{ with .master }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: hosts}\ndata: {address: {{ .address | quote }}, password: {{ .password | default \"\" | quote }}}\n{{ end }}"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return version.ID
}

const (
	master     = `[{"key": "master", "title": "Master", "catalog": "hosts"}]`
	autoMaster = `[{"key": "master", "title": "Master", "catalog": "hosts", "autoselect": true}]`
)

func choose(r store.Record) store.Values {
	return store.Values{"master": map[string]any{fleet.RecordID: r.ID.String()}}
}

func create(t *testing.T, b *fleettest.Bench, version uuid.UUID, name string, values store.Values) (store.Cluster, error) {
	t.Helper()
	cluster, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: version, Values: values,
	})
	return cluster, err
}

func TestAHundredClustersForTenRecords(t *testing.T) {
	t.Parallel()
	const records, clusters = 10, 100
	for name, fields := range map[string]string{"picked by a person": master, "picked by itself": autoMaster} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fleettest.New(t)
			version := withRecords(t, b, fields)
			c := catalog(t, b, "hosts", true)
			made := make([]store.Record, records)
			for i := range made {
				made[i] = record(t, b, c, host(fmt.Sprintf("10.0.0.%d", i+1)))
			}
			refusals := make([]error, clusters)
			var wg sync.WaitGroup
			for i := range clusters {
				wg.Go(func() {
					values := store.Values{}
					if fields == master {
						values = choose(made[i%records])
					}
					_, _, refusals[i] = b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
						WorkspaceID: b.Workspace.ID, Name: fmt.Sprintf("c%d", i), TemplateVersionID: version, Values: values,
					})
				})
			}
			wg.Wait()
			won := 0
			for _, err := range refusals {
				if err == nil {
					won++
					continue
				}
				var refused *fault.Error
				want := "inventory.none_free"
				if fields == master {
					want = "inventory.record.taken"
				}
				if !errors.As(err, &refused) || refused.Fields[fleet.ValueField("master")].Key != want {
					t.Errorf("got %v, want %s", err, want)
				}
			}
			var holders, distinct int
			if err := b.Store.Pool.QueryRow(t.Context(), "select count(*), count(distinct record_id) from record_uses").Scan(&holders, &distinct); err != nil {
				t.Fatal(err)
			}
			if won != records || holders != records || distinct != records {
				t.Errorf("got %d clusters, %d uses of %d records; want %d of each", won, holders, distinct, records)
			}
		})
	}
}

func TestATakenRecordIsMarkedAndKept(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	version := withRecords(t, b, master)
	c := catalog(t, b, "hosts", true)
	first, second := record(t, b, c, host("10.0.0.1")), record(t, b, c, host("10.0.0.2"))
	cluster, err := create(t, b, version, "first", choose(first))
	if err != nil {
		t.Fatal(err)
	}
	list, err := b.Records(t.Context(), b.Viewer, c.ID, fleet.RecordFilter{State: "used", Limit: 10})
	if err != nil || list.Total != 1 || len(list.Lines[0].Users) != 1 || list.Lines[0].Users[0].Name != "first" || list.Counts.Used != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
	if list, err = b.Records(t.Context(), b.Viewer, c.ID, fleet.RecordFilter{State: "free", Limit: 10}); err != nil || list.Total != 1 || list.Lines[0].ID != second.ID {
		t.Errorf("free: got %+v, %v", list.Lines, err)
	}
	_, err = create(t, b, version, "second", choose(first))
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Fields["values.master"].Args[1] != "first" {
		t.Errorf("got %v, want the name of who has it", err)
	}
	for what, do := range map[string]func() error{
		"deleting":  func() error { _, err := b.DeleteRecord(t.Context(), b.Admin, first.ID); return err },
		"archiving": func() error { _, err := b.ArchiveRecord(t.Context(), b.Admin, first.ID); return err },
	} {
		if key, args := conflict(t, do()); key != "inventory.record.used" || args[1] != "first" {
			t.Errorf("%s: got %s %v", what, key, args)
		}
	}
	_, err = b.ArchiveCatalog(t.Context(), b.Admin, c.ID)
	if key, args := conflict(t, err); key != "inventory.used" || args[1] != "first" {
		t.Errorf("archiving the catalog: got %s %v", key, args)
	}
	_, err = b.ChangeCatalog(t.Context(), b.Admin, c.ID, c.Revision, "Hosts", json.RawMessage(strings.Replace(hosts, "Cores", "CPU", 1)))
	if key, args := conflict(t, err); key != "inventory.schema.used" || args[1] != "first" {
		t.Errorf("changing the schema: got %s %v", key, args)
	}
	renamed, err := b.ChangeCatalog(t.Context(), b.Admin, c.ID, c.Revision, "Machines", json.RawMessage(hosts))
	if err != nil || renamed.Name != "Machines" {
		t.Errorf("renaming: got %v", err)
	}

	// The other record instead: the first is free at once.
	changed, _, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: cluster.Revision, Name: "first", TemplateVersionID: version, Values: choose(second),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(t, b, version, "second", choose(first)); err != nil {
		t.Errorf("a record given back: %v", err)
	}
	// What a cluster has, it may keep.
	if _, _, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: changed.Revision, Name: "first", TemplateVersionID: version, Values: choose(second),
	}); err != nil {
		t.Errorf("keeping a record: %v", err)
	}
	if _, err := b.ArchiveCluster(t.Context(), b.Admin, cluster.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DeleteRecord(t.Context(), b.Admin, second.ID); err != nil {
		t.Errorf("after archiving the cluster: %v", err)
	}
}

func TestASharedRecordServesManyClusters(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	version := withRecords(t, b, `[{"key": "master", "title": "Master", "catalog": "hosts"}, {"key": "other", "title": "Other", "catalog": "hosts", "optional": true}]`)
	c := catalog(t, b, "hosts", false)
	r := record(t, b, c, host("10.0.0.1"))
	values := choose(r)
	values["other"] = values["master"] // one record may be chosen twice in one form
	for _, name := range []string{"a", "b"} {
		if _, err := create(t, b, version, name, values); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	view, err := b.Record(t.Context(), b.Viewer, r.ID)
	if err != nil || len(view.Users) != 2 {
		t.Errorf("got %v, %v", view.Users, err)
	}
}

func TestChoicesThatFitNoField(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	c := catalog(t, b, "hosts", true)
	spare := catalog(t, b, "spare", true)
	r, misfit, other := record(t, b, c, host("10.0.0.1")), record(t, b, c, host("10.0.0.2")), record(t, b, spare, host("10.0.0.3"))
	archived := record(t, b, c, host("10.0.0.4"))
	if _, err := b.ArchiveRecord(t.Context(), b.Admin, archived.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Store.Pool.Exec(t.Context(), "update records set schema_matches = false where id = $1", misfit.ID); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := b.EnsureWorkspace(t.Context(), "elsewhere", "")
	if err != nil {
		t.Fatal(err)
	}
	far, err := b.CreateCatalog(t.Context(), b.Admin, elsewhere.ID, fleet.NewCatalog{Name: "Hosts", Slug: "hosts", Params: json.RawMessage(hosts)})
	if err != nil {
		t.Fatal(err)
	}
	foreign := record(t, b, far, host("10.0.0.5"))
	one, several := `[{"key": "master", "title": "M", "catalog": "hosts"}]`, `[{"key": "master", "title": "M", "catalog": "hosts", "minItems": 2, "maxItems": 2}]`
	id := func(r store.Record) any { return map[string]any{fleet.RecordID: r.ID.String()} }
	cases := []struct {
		name, fields string
		value        any
		key          string
	}{
		{"nothing", one, nil, "parameter.required"},
		{"no id", one, map[string]any{"address": "10.0.0.1"}, "inventory.record.malformed"},
		{"a number", one, 7.0, "inventory.record.malformed"},
		{"of nobody", one, uuid.NewString(), "inventory.record.unknown"},
		{"of another workspace", one, id(foreign), "inventory.record.unknown"},
		{"in the archive", one, id(archived), "inventory.record.archived"},
		{"that does not fit its schema", one, id(misfit), "inventory.record.misfit"},
		{"two for one", one, []any{id(r), id(other)}, "inventory.record.one"},
		{"too few", several, []any{id(r)}, "inventory.record.few"},
		{"the same twice", several, []any{id(r), id(r)}, "inventory.record.twice"},
		{"of another catalog, where that cannot change", `[{"key": "master", "title": "M", "catalog": "hosts", "immutable": true}]`, id(other), "inventory.record.other_catalog"},
		{"picked from a catalog that is not there", `[{"key": "master", "title": "M", "catalog": "none", "autoselect": true}]`, nil, "inventory.no_catalog"},
	}
	for _, c := range cases {
		_, err := create(t, b, withRecords(t, b, c.fields), "first", store.Values{"master": c.value})
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Fields["values.master"].Key != c.key {
			t.Errorf("%s: got %v, want %s", c.name, err, c.key)
		}
	}
	if _, err := create(t, b, withRecords(t, b, one), "switched", store.Values{"master": id(other)}); err != nil {
		t.Errorf("of another catalog: %v", err)
	}
	if _, err := create(t, b, withRecords(t, b, `[{"key": "master", "title": "M", "catalog": "hosts", "optional": true}]`), "without", nil); err != nil {
		t.Errorf("an optional record: %v", err)
	}
}

func TestSecretsOfRecordsStaySecret(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	version := withRecords(t, b, master)
	r := record(t, b, catalog(t, b, "hosts", true), store.Values{"address": "10.0.0.1", "cores": 4.0, "password": "correct horse"})
	cluster, err := create(t, b, version, "first", choose(r))
	if err != nil {
		t.Fatal(err)
	}
	view, err := b.Cluster(t.Context(), b.Viewer, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	real, shown := view.Wanted.Rendering.Real.Groups[0].Manifests, view.Wanted.Rendering.Shown.Groups[0].Manifests
	if !strings.Contains(real, "correct horse") || strings.Contains(shown, "correct horse") || !strings.Contains(shown, schema.Mask) {
		t.Errorf("got %s and shown %s", real, shown)
	}
	body, err := json.Marshal([]any{view.Wanted.Shown, view.Wanted.Parameters})
	if err != nil || strings.Contains(string(body), "correct horse") || !strings.Contains(string(body), r.ID.String()) {
		t.Errorf("got %s, %v", body, err)
	}
	if len(view.Wanted.Secrets) != 1 || view.Wanted.Secrets[0] != "correct horse" {
		t.Errorf("secrets for the redactor: got %v", view.Wanted.Secrets)
	}
	var audit string
	if err := b.Store.Pool.QueryRow(t.Context(), "select string_agg(changes::text, '') from audits").Scan(&audit); err != nil || strings.Contains(audit, "correct horse") {
		t.Errorf("audit: %s, %v", audit, err)
	}
}

func TestAChangedRecordRendersItsClustersAnew(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	version := withRecords(t, b, master)
	c := catalog(t, b, "hosts", false)
	r := record(t, b, c, host("10.0.0.1"))
	saved, err := create(t, b, version, "saved", choose(r))
	if err != nil {
		t.Fatal(err)
	}
	installed, err := create(t, b, version, "installed", choose(r))
	if err != nil {
		t.Fatal(err)
	}
	task, err := b.InstallCluster(t.Context(), b.Admin, installed.ID)
	if err != nil {
		t.Fatal(err)
	}
	after, err := b.ChangeRecord(t.Context(), b.Admin, r.ID, r.Revision, host("10.0.0.7"))
	if err != nil {
		t.Fatal(err)
	}
	var jobs int
	if err := b.Store.Pool.QueryRow(t.Context(), "select count(*) from river_job where kind = 'record.rerender'").Scan(&jobs); err != nil || jobs != 1 {
		t.Errorf("got %d jobs, %v", jobs, err)
	}
	if err := b.Rerender(t.Context(), r.ID); !errors.Is(err, fleet.ErrBusy) {
		t.Errorf("while a task waits: got %v", err)
	}
	b.Run(t, task, store.TaskSucceeded)
	if err := b.Rerender(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		id     uuid.UUID
		status store.ClusterStatus
	}{{saved.ID, store.ClusterNew}, {installed.ID, store.ClusterPendingChanges}} {
		view, err := b.Cluster(t.Context(), b.Admin, want.id)
		if err != nil {
			t.Fatal(err)
		}
		if view.Status != want.status || view.Revision != 2 || !strings.Contains(view.Wanted.Rendering.Real.Groups[0].Manifests, "10.0.0.7") {
			t.Errorf("%s: got %s, revision %d\n%s", view.Name, view.Status, view.Revision, view.Wanted.Rendering.Real.Groups[0].Manifests)
		}
		for _, task := range view.Tasks {
			if task.Kind == store.TaskConverge {
				t.Errorf("%s: applied without a person", view.Name)
			}
		}
	}
	if err := b.Rerender(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if again, err := b.Store.Cluster(t.Context(), installed.ID); err != nil || again.Revision != 2 {
		t.Errorf("a second run: revision %d, %v", again.Revision, err)
	}
	applied, err := b.Converge(t.Context(), b.Admin, installed.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t, applied, store.TaskSucceeded)
	if done, err := b.Store.Cluster(t.Context(), installed.ID); err != nil || done.Status != store.ClusterInSync || *done.AppliedRevision != 2 {
		t.Errorf("applied: got %s, %v", done.Status, err)
	}
	if _, err := b.ChangeRecord(t.Context(), b.Admin, r.ID, after.Revision, host("10.0.0.7")); err != nil {
		t.Errorf("a change of nothing: %v", err)
	}
}

// TestTheEndOfAClusterFreesItsRecords ends clusters in each way that there is.
func TestTheEndOfAClusterFreesItsRecords(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	version := withRecords(t, b, master)
	one := record(t, b, catalog(t, b, "hosts", true), host("10.0.0.1"))
	take := func(name string) store.Cluster {
		t.Helper()
		cluster, task, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
			WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: version, Values: choose(one), Install: true,
		})
		if err != nil {
			t.Fatalf("the record is not free: %v", err)
		}
		b.Run(t, *task, store.TaskSucceeded)
		return cluster
	}
	for _, way := range []struct {
		name string
		end  func(uuid.UUID) (store.Task, error)
	}{
		{"deleted", func(id uuid.UUID) (store.Task, error) {
			_, task, err := b.DeleteCluster(t.Context(), b.Admin, id)
			return *task, err
		}},
		{"detached", func(id uuid.UUID) (store.Task, error) { return b.DetachCluster(t.Context(), b.Admin, id) }},
	} {
		cluster := take(way.name)
		task, err := way.end(cluster.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := create(t, b, version, "early", choose(one)); err == nil {
			t.Fatalf("%s: the record was free before the end", way.name)
		}
		b.Run(t, task, store.TaskSucceeded)
	}
	archived := take("archived")
	if _, err := b.ArchiveCluster(t.Context(), b.Admin, archived.ID); err != nil {
		t.Fatal(err)
	}
	take("last")
}
