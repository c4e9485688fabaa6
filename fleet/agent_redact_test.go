package fleet_test

import (
	"strings"
	"testing"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

func TestReportsAreKeptWithoutSecrets(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	const before, now = "correct horse", "battery staple"
	cluster := b.Installed(t, "first", store.Values{"adminPassword": before})
	if _, _, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: cluster.Revision, Name: cluster.Name, TemplateVersionID: b.Lab.ID, Values: store.Values{"adminPassword": now},
	}); err != nil {
		t.Fatal(err)
	}
	told := store.AgentObjects{
		{Name: "refused", State: "failed", Error: `data: Invalid value: "` + now + `": too plain`},
		{Name: "late", State: "failed", Error: `data: Invalid value: "` + before + `": too plain`},
		{Name: "kept", State: "applied"},
		// A cut through the middle of a secret would keep its beginning.
		{Name: "long", State: "failed", Error: strings.Repeat("é", 1018) + now + strings.Repeat("x", 5000)},
	}
	if err := b.TakeReport(t.Context(), cluster.ID, fleet.AgentReport{Objects: told, Failed: true}); err != nil {
		t.Fatal(err)
	}
	view, err := b.Cluster(t.Context(), b.Viewer, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(view.Report.Objects); got != len(told) {
		t.Fatalf("objects: got %d, want %d", got, len(told))
	}
	for i, want := range []string{
		`data: Invalid value: "[redacted]": too plain`, `data: Invalid value: "[redacted]": too plain`, "",
	} {
		if got := view.Report.Objects[i].Error; got != want {
			t.Errorf("%s: got %q, want %q", told[i].Name, got, want)
		}
	}
	if got := view.Report.Objects[3].Error; strings.Contains(got, now[:5]) || len(got) > 2100 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long error: got %d bytes ending in %q", len(got), got[len(got)-30:])
	}
	if !strings.Contains(told[0].Error, now) {
		t.Errorf("the caller's report was changed: %q", told[0].Error)
	}
}
