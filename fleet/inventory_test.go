package fleet_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// hosts is the schema of a catalog of machines.
const hosts = `[
	{"header": "Machine"},
	{"key": "address", "type": "string", "title": "Address", "format": "ipv4", "unique": true, "identifier": true},
	{"key": "user", "type": "string", "title": "User", "default": "root"},
	{"key": "password", "type": "string", "title": "Password", "format": "password", "optional": true, "unique": true},
	{"key": "cores", "type": "number", "title": "Cores", "min": 1}
]`

func catalog(t *testing.T, b *fleettest.Bench, slug string, exclusive bool) store.Catalog {
	t.Helper()
	made, err := b.CreateCatalog(t.Context(), b.Admin, b.Workspace.ID, fleet.NewCatalog{
		Name: strings.ToUpper(slug), Slug: slug, Exclusive: exclusive, Params: json.RawMessage(hosts),
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func host(address string) store.Values { return store.Values{"address": address, "cores": 4.0} }

func record(t *testing.T, b *fleettest.Bench, c store.Catalog, values store.Values) store.Record {
	t.Helper()
	made, err := b.CreateRecord(t.Context(), b.Admin, c.ID, values)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestWhatIsWrongWithACatalogIsSaid(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	catalog(t, b, "hosts", true)
	cases := []struct{ name, slug, params, field, key string }{
		{"", "ok", hosts, "name", "inventory.name"},
		{"Hosts", "", hosts, "slug", "inventory.slug.required"},
		{"Hosts", "1st", hosts, "slug", "inventory.slug.start"},
		{"Hosts", "a.b", hosts, "slug", "inventory.slug.character"},
		{"Hosts", "aB", hosts, "slug", "inventory.slug.character"},
		{"Hosts", strings.Repeat("a", 64), hosts, "slug", "inventory.slug.long"},
		{"Hosts", "hosts", hosts, "slug", "inventory.slug.taken"},
		{"Hosts", "ok", `{}`, "params", "schema.list"},
		{"Hosts", "ok", `[{"header": "Nothing"}]`, "params", "inventory.schema.empty"},
		{"Hosts", "ok", `[{"key": "a", "type": "colour", "title": "A"}]`, "params", "schema.type"},
		{"Hosts", "ok", `[{"key": "a", "title": "A", "catalog": "other"}]`, "params", "inventory.schema.nested"},
	}
	for _, c := range cases {
		_, err := b.CreateCatalog(t.Context(), b.Admin, b.Workspace.ID, fleet.NewCatalog{Name: c.name, Slug: c.slug, Params: json.RawMessage(c.params)})
		if got := refusedFields(t, err); got[c.field] != c.key {
			t.Errorf("%q %q: got %v, want %s of %s", c.name, c.slug, got, c.key, c.field)
		}
	}
	if _, err := b.CreateCatalog(t.Context(), b.Viewer, b.Workspace.ID, fleet.NewCatalog{}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a viewer: got %v", err)
	}
	if _, err := b.Catalogs(t.Context(), b.Stranger, b.Workspace.ID, true); !fault.Is(err, fault.NotFound) {
		t.Errorf("a stranger: got %v", err)
	}
}

func TestRecordsAreHeldToTheSchema(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	c := catalog(t, b, "hosts", true)
	_, err := b.CreateRecord(t.Context(), b.Admin, c.ID, store.Values{"address": "nowhere", "cores": 0.0, "other": 1})
	if diff := cmp.Diff(map[string]string{"address": "parameter.format", "cores": "parameter.too_small", "other": "parameter.unknown"}, refusedFields(t, err)); diff != "" {
		t.Errorf("creation (-want +got):\n%s", diff)
	}
	made := record(t, b, c, store.Values{"address": "10.0.0.1", "cores": 4.0, "password": "correct horse"})
	if made.Label != "10.0.0.1" || !made.SchemaMatches {
		t.Errorf("got label %q", made.Label)
	}
	var stored string
	if err := b.Store.Pool.QueryRow(t.Context(), "select records::text || coalesce((select string_agg(v::text, '') from record_values v), '') from records").Scan(&stored); err != nil || strings.Contains(stored, "correct horse") {
		t.Errorf("the password is in the table: %v", err)
	}
	view, err := b.Record(t.Context(), b.Viewer, made.ID)
	if err != nil || view.Shown["password"] != schema.Mask || view.Values["password"] != "correct horse" || view.Values["user"] != "root" {
		t.Errorf("got %v %v, %v", view.Shown, view.Values, err)
	}
	after, err := b.ChangeRecord(t.Context(), b.Admin, made.ID, made.Revision, store.Values{"address": "10.0.0.2", "cores": 8.0, "password": schema.Mask})
	if err != nil || after.Label != "10.0.0.2" || after.Revision != made.Revision+1 {
		t.Fatalf("got %+v, %v", after, err)
	}
	if view, err = b.Record(t.Context(), b.Admin, made.ID); err != nil || view.Values["password"] != "correct horse" {
		t.Errorf("a mask keeps the secret: got %v, %v", view.Values, err)
	}
	_, err = b.ChangeRecord(t.Context(), b.Admin, made.ID, made.Revision, host("10.0.0.3"))
	if key, _ := conflict(t, err); key != "inventory.stale_revision" {
		t.Errorf("got %s", key)
	}
	_, err = b.ChangeRecord(t.Context(), b.Admin, made.ID, after.Revision, store.Values{"address": "10.0.0.2"})
	if got := refusedFields(t, err); got["cores"] != "parameter.required" {
		t.Errorf("edit: got %v", got)
	}
}

func TestLabelsComeFromIdentifiers(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	values := store.Values{"a": "x", "b": "y", "c": "z", "secret": "s"}
	cases := []struct {
		name       string
		a, b       string
		wantedText string
	}{
		{"all but secrets by default", ``, ``, "x · y · z"},
		{"one that is said to be", `"identifier": true,`, ``, "x"},
		{"one that is said not to be", `"identifier": false,`, ``, "y · z"},
		{"one and not the other", `"identifier": true,`, `"identifier": false,`, "x"},
	}
	for i, c := range cases {
		params := `[{"key": "a", ` + c.a + ` "type": "string", "title": "A"}, {"key": "b", ` + c.b + ` "type": "string", "title": "B"},
			{"key": "c", "type": "string", "title": "C"}, {"key": "secret", "type": "string", "format": "password", "title": "S"}]`
		made, err := b.CreateCatalog(t.Context(), b.Admin, b.Workspace.ID, fleet.NewCatalog{Name: c.name, Slug: "c" + string(rune('a'+i)), Params: json.RawMessage(params)})
		if err != nil {
			t.Fatal(err)
		}
		if got := record(t, b, made, values); got.Label != c.wantedText {
			t.Errorf("%s: got %q, want %q", c.name, got.Label, c.wantedText)
		}
	}
}

func TestUniqueValuesAreUniqueInTheirCatalog(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	c, other := catalog(t, b, "hosts", true), catalog(t, b, "spare", true)
	first := record(t, b, c, store.Values{"address": "10.0.0.1", "cores": 4.0, "password": "correct horse"})
	record(t, b, other, host("10.0.0.1")) // another catalog is another matter
	_, err := b.CreateRecord(t.Context(), b.Admin, c.ID, host("10.0.0.1"))
	if got := refusedFields(t, err); got["address"] != "inventory.record.not_unique" {
		t.Errorf("creation: got %v", got)
	}
	_, err = b.CreateRecord(t.Context(), b.Admin, c.ID, store.Values{"address": "10.0.0.2", "cores": 1.0, "password": "correct horse"})
	if got := refusedFields(t, err); got["password"] != "inventory.record.not_unique" {
		t.Errorf("a sealed value: got %v", got)
	}
	second := record(t, b, c, host("10.0.0.2"))
	_, err = b.ChangeRecord(t.Context(), b.Admin, second.ID, second.Revision, host("10.0.0.1"))
	if got := refusedFields(t, err); got["address"] != "inventory.record.not_unique" {
		t.Errorf("edit: got %v", got)
	}
	// In the archive a value is free; who comes back finds it taken.
	if _, err := b.ArchiveRecord(t.Context(), b.Admin, first.ID); err != nil {
		t.Fatal(err)
	}
	record(t, b, c, host("10.0.0.1"))
	_, err = b.RestoreRecord(t.Context(), b.Admin, first.ID)
	if key, args := conflict(t, err); key != "inventory.record.twin" || args[1] != "10.0.0.1" {
		t.Errorf("restoring: got %s %v", key, args)
	}
	report, err := b.ImportRecords(t.Context(), b.Admin, b.Workspace.ID, fleet.Import{Slug: "hosts", Resources: []fleet.ImportedRecord{
		{host("10.0.0.1")}, {host("10.0.0.9")}, {host("10.0.0.9")},
	}})
	if err != nil || report.Taken != 1 || len(report.Refused) != 2 || report.Refused[0].Number != 1 || report.Refused[1].Number != 3 ||
		report.Refused[1].Fields["address"].Key != "inventory.record.not_unique" {
		t.Errorf("import: got %+v, %v", report, err)
	}
}

func TestAChangedSchemaAndTheRecordsItHas(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	c := catalog(t, b, "hosts", false)
	small, large := record(t, b, c, store.Values{"address": "10.0.0.1", "cores": 1.0}), record(t, b, c, host("10.0.0.2"))
	stricter := strings.Replace(hosts, `"min": 1`, `"min": 2`, 1)
	after, err := b.ChangeCatalog(t.Context(), b.Admin, c.ID, c.Revision, "Machines", json.RawMessage(stricter))
	if err != nil || after.Name != "Machines" || after.Slug != "hosts" {
		t.Fatalf("got %+v, %v", after, err)
	}
	list, err := b.Records(t.Context(), b.Viewer, c.ID, fleet.RecordFilter{State: "misfits", Limit: 10})
	if err != nil || list.Total != 1 || list.Lines[0].ID != small.ID || list.Counts.Records != 2 {
		t.Fatalf("misfits: got %+v, %v", list, err)
	}
	view, err := b.Record(t.Context(), b.Viewer, small.ID)
	if err != nil || view.SchemaMatches || view.Problems["cores"].Key != "parameter.too_small" {
		t.Errorf("got %v %v, %v", view.SchemaMatches, view.Problems, err)
	}
	if _, err := b.ChangeRecord(t.Context(), b.Admin, small.ID, small.Revision, host("10.0.0.1")); err != nil {
		t.Fatal(err)
	}
	if view, err = b.Record(t.Context(), b.Viewer, small.ID); err != nil || !view.SchemaMatches {
		t.Errorf("mended: got %v, %v", view.SchemaMatches, err)
	}
	unique := strings.Replace(stricter, `"title": "Cores"`, `"title": "Cores", "unique": true`, 1)
	_, err = b.ChangeCatalog(t.Context(), b.Admin, c.ID, after.Revision, "Machines", json.RawMessage(unique))
	if got := refusedFields(t, err); got["params"] != "inventory.schema.not_unique" {
		t.Errorf("two records share a value: got %v", got)
	}
	if _, err := b.DeleteRecord(t.Context(), b.Admin, large.ID); err != nil {
		t.Fatal(err)
	}
	if list, err = b.Records(t.Context(), b.Viewer, c.ID, fleet.RecordFilter{Limit: 10}); err != nil || len(list.Lines) != 1 {
		t.Errorf("a deleted record is still there: %+v, %v", list.Lines, err)
	}
	_, err = b.ChangeCatalog(t.Context(), b.Admin, c.ID, c.Revision, "Machines", json.RawMessage(hosts))
	if key, _ := conflict(t, err); key != "inventory.stale_revision" {
		t.Errorf("got %s", key)
	}
}

func TestImportMakesACatalogAndAppendsToIt(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	document := `{"name": "Hosts", "slug": "hosts", "params": ` + hosts + `, "resources": [
		{"values": {"address": "10.0.0.1", "cores": 4}},
		{"values": {"address": "nowhere", "cores": 4}},
		{"nothing": true}
	]}`
	in, err := fleet.ParseImport([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	report, err := b.ImportRecords(t.Context(), b.Admin, b.Workspace.ID, in)
	if err != nil || !report.Created || report.Taken != 1 || len(report.Refused) != 2 {
		t.Fatalf("got %+v, %v", report, err)
	}
	if p := report.Refused[0]; p.Number != 2 || p.Fields["address"].Key != "parameter.format" {
		t.Errorf("got %+v", p)
	}
	if p := report.Refused[1]; p.Number != 3 || p.Fields[""].Key != "inventory.import.no_values" {
		t.Errorf("got %+v", p)
	}
	// The slug exists now: the name and the schema of the document are left alone.
	in.Name, in.Params = "Other", json.RawMessage(`"nonsense"`)
	in.Resources = []fleet.ImportedRecord{{host("10.0.0.2")}, {store.Values{"address": "10.0.0.3", "cores": 0.0}}}
	again, err := b.ImportRecords(t.Context(), b.Admin, b.Workspace.ID, in)
	if err != nil || again.Created || again.Taken != 2 || len(again.Misfits) != 1 || again.Misfits[0].Number != 2 {
		t.Fatalf("got %+v, %v", again, err)
	}
	if again.Catalog.ID != report.Catalog.ID || again.Catalog.Name != "Hosts" {
		t.Errorf("got %+v", again.Catalog)
	}
	list, err := b.Records(t.Context(), b.Viewer, report.Catalog.ID, fleet.RecordFilter{Limit: 10})
	if err != nil || list.Counts.Records != 3 || list.Counts.Misfits != 1 {
		t.Errorf("got %+v, %v", list.Counts, err)
	}
	for _, bad := range []string{"", "[]", `{"slug": 1}`, document + "{}"} {
		var refused *fault.Error
		if _, err := fleet.ParseImport([]byte(bad)); !errors.As(err, &refused) || refused.Key != "inventory.import.json" {
			t.Errorf("%.10q: got %v", bad, err)
		}
	}
	_, err = b.ImportRecords(t.Context(), b.Admin, b.Workspace.ID, fleet.Import{Name: "X", Slug: "new", Params: json.RawMessage(`{}`)})
	if got := refusedFields(t, err); got["params"] != "schema.list" {
		t.Errorf("got %v", got)
	}
}

func TestCatalogsGoToTheArchiveAndComeBack(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	c := catalog(t, b, "hosts", true)
	record(t, b, c, host("10.0.0.1"))
	if _, err := b.ArchiveCatalog(t.Context(), b.Admin, c.ID); err != nil {
		t.Fatal(err)
	}
	if rows, err := b.Catalogs(t.Context(), b.Admin, b.Workspace.ID, false); err != nil || len(rows) != 0 {
		t.Errorf("got %d catalogs, %v", len(rows), err)
	}
	_, err := b.CreateRecord(t.Context(), b.Admin, c.ID, host("10.0.0.2"))
	if key, _ := conflict(t, err); key != "inventory.archived" {
		t.Errorf("got %s", key)
	}
	second := catalog(t, b, "hosts", true)
	_, err = b.RestoreCatalog(t.Context(), b.Admin, c.ID)
	if key, args := conflict(t, err); key != "inventory.slug.taken" || args[0] != "hosts" {
		t.Errorf("got %s %v", key, args)
	}
	if _, err := b.ArchiveCatalog(t.Context(), b.Admin, second.ID); err != nil {
		t.Fatal(err)
	}
	back, err := b.RestoreCatalog(t.Context(), b.Admin, c.ID)
	if err != nil || back.ArchivedAt != nil {
		t.Fatalf("got %+v, %v", back, err)
	}
	if list, err := b.Records(t.Context(), b.Viewer, c.ID, fleet.RecordFilter{Limit: 10}); err != nil || list.Total != 1 {
		t.Errorf("got %d records, %v", list.Total, err)
	}
}
