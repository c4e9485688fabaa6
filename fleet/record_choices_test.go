package fleet_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

func TestAFormOffersRecordsAndSaysWhoHasThem(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	c, shared := catalog(t, b, "hosts", true), catalog(t, b, "zones", false)
	var made []store.Record
	for i := range 3 {
		made = append(made, record(t, b, c, host(fmt.Sprintf("10.0.0.%d", i+1))))
	}
	zone := record(t, b, shared, host("10.9.0.1"))
	version := withRecords(t, b, `[{"key": "master", "title": "Master", "catalog": "hosts", "autoselect": true}, {"key": "zone", "title": "Zone", "catalog": "zones"}]`)
	pick := func(r store.Record) any { return map[string]any{fleet.RecordID: r.ID.String()} }
	holder, err := create(t, b, version, "holder", store.Values{"master": pick(made[0]), "zone": pick(zone)})
	if err != nil {
		t.Fatal(err)
	}
	_, _, parameters, err := b.TemplateVersion(t.Context(), b.Admin, b.Workspace.ID, version)
	if err != nil {
		t.Fatal(err)
	}
	choices, err := b.RecordChoices(t.Context(), b.Viewer, b.Workspace.ID, uuid.Nil, parameters, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	records := choices["master"].Records
	if len(records) != 3 || records[2].Label != "10.0.0.1" || !records[2].Taken || records[2].User != "holder" || records[0].Taken {
		t.Errorf("of an exclusive catalog: got %+v", records)
	}
	if zones := choices["zone"].Records; len(zones) != 1 || zones[0].Taken || zones[0].User != "holder" {
		t.Errorf("of a shared catalog: got %+v", zones)
	}
	// For its holder a record is not taken, and it comes first as it is chosen.
	choices, err = b.RecordChoices(t.Context(), b.Admin, b.Workspace.ID, holder.ID, parameters, store.Values{"master": pick(made[0])}, nil)
	if err != nil || choices["master"].Records[0].Taken || choices["master"].Records[0].ID != made[0].ID.String() {
		t.Errorf("for the holder: got %+v, %v", choices["master"].Records, err)
	}
	// A field shows the catalog that a person points it at, and the one of the record it has.
	choices, err = b.RecordChoices(t.Context(), b.Admin, b.Workspace.ID, uuid.Nil, parameters, store.Values{"zone": pick(made[1])}, map[string]fleet.Wanted{"master": {Catalog: "zones"}})
	if err != nil || choices["master"].Catalog.Slug != "zones" || choices["zone"].Catalog.Slug != "hosts" {
		t.Errorf("pointed elsewhere: got %s and %s, %v", choices["master"].Catalog.Slug, choices["zone"].Catalog.Slug, err)
	}
	// What would be picked is said while the form is filled, and only what is free.
	preview, err := b.PreviewCluster(t.Context(), b.Admin, b.Workspace.ID, version, nil, store.Values{"zone": pick(zone)})
	if err != nil || len(preview.Errors) > 0 {
		t.Fatalf("got %v, %v", preview.Errors, err)
	}
	picked, _ := preview.Records["master"].(map[string]any)
	free := []any{made[1].ID.String(), made[2].ID.String()}
	if !slices.Contains(free, picked[fleet.RecordID]) {
		t.Errorf("got %v, want a free record", picked)
	}
}
