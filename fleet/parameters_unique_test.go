package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

// site is a unique parameter in the clear and a unique one that is sealed.
const site = `[
	{"key": "site", "type": "string", "title": "Site", "unique": true, "optional": true},
	{"key": "token", "type": "string", "title": "Token", "format": "password", "unique": true, "optional": true},
	{"key": "nets", "type": "string", "title": "Networks", "unique": true, "optional": true, "minItems": 1, "maxItems": 3}
]`

func notUnique(t *testing.T, err error, key, holder string) {
	t.Helper()
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Fields[fleet.ValueField(key)].Key != "parameter.not_unique" ||
		refused.Fields[fleet.ValueField(key)].Args[0] != holder {
		t.Errorf("%s: got %v, want a refusal that names %s", key, err, holder)
	}
}

func TestUniqueParametersAreUniqueAcrossClusters(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	version := withRecords(t, b, site)
	const secret = "correct horse battery"
	first, err := create(t, b, version, "first", store.Values{"site": "msk-1", "token": secret, "nets": []any{"10.0.0.0/8", "10.1.0.0/16"}})
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]any{"site": "msk-1", "token": secret, "nets": []any{"10.2.0.0/16", "10.1.0.0/16"}} {
		_, err := create(t, b, version, "second", store.Values{key: value})
		notUnique(t, err, key, "first")
		preview, err := b.PreviewCluster(t.Context(), b.Admin, b.Workspace.ID, version, nil, store.Values{key: value})
		if err != nil || len(preview.Errors) != 1 || preview.Errors[0].Key != "parameter.not_unique" {
			t.Errorf("%s while typing: got %v, %v", key, preview.Errors, err)
		}
		if preview, err = b.PreviewCluster(t.Context(), b.Viewer, b.Workspace.ID, version, nil, store.Values{key: value}); err != nil || len(preview.Errors) != 0 {
			t.Errorf("%s is told to who may only look: %v, %v", key, preview.Errors, err)
		}
	}
	// The same words of another parameter, and no words at all, are nobody's.
	second, err := create(t, b, version, "second", store.Values{"site": secret, "token": "msk-1 as a token"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(t, b, version, "third", nil); err != nil {
		t.Fatal(err)
	}
	change := fleet.ClusterChange{Revision: second.Revision, Name: "second", TemplateVersionID: version, Values: store.Values{"site": "msk-1"}}
	_, _, err = b.ChangeCluster(t.Context(), b.Admin, second.ID, change)
	notUnique(t, err, "site", "first")
	var hashes string
	if err := b.Store.Pool.QueryRow(t.Context(), "select string_agg(encode(hash, 'escape'), ' ') from parameter_values").Scan(&hashes); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(hashes, "msk-1") || strings.Contains(hashes, secret) {
		t.Error("values are stored in the clear to compare them")
	}
	// A cluster keeps its own values, and gives them back with the archive.
	change = fleet.ClusterChange{Revision: first.Revision, Name: "renamed", TemplateVersionID: version, Values: store.Values{"site": "msk-1", "token": secret}}
	if first, _, err = b.ChangeCluster(t.Context(), b.Admin, first.ID, change); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ArchiveCluster(t.Context(), b.Admin, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := create(t, b, version, "fourth", store.Values{"site": "msk-1", "token": secret}); err != nil {
		t.Errorf("after the archive: %v", err)
	}
}

func TestOneOfManyGetsAUniqueValue(t *testing.T) {
	t.Parallel()
	const clusters = 20
	b := fleettest.New(t)
	version := withRecords(t, b, site)
	refusals := make([]error, clusters)
	var wg sync.WaitGroup
	for i := range clusters {
		wg.Go(func() {
			_, _, refusals[i] = b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
				WorkspaceID: b.Workspace.ID, Name: fmt.Sprintf("c%d", i), TemplateVersionID: version,
				Values: store.Values{"site": "msk-1", "token": "correct horse battery"},
			})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range refusals {
		var refused *fault.Error
		switch {
		case err == nil:
			won++
		case !errors.As(err, &refused) || refused.Kind != fault.Invalid || !strings.Contains(refused.Error(), "not_unique"):
			t.Errorf("got %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d clusters have the value", won)
	}
}
