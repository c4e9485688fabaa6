package fleet_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

func TestDefaultsAloneAreAValidCluster(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, task := b.Create(t, "first", nil)
	if cluster.Status != store.ClusterNew || task.Kind != store.TaskBootstrap || task.Status != store.TaskQueued {
		t.Errorf("got cluster %s and task %s %s", cluster.Status, task.Kind, task.Status)
	}
	view, err := b.Cluster(t.Context(), b.Viewer, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(view.Wanted.Rendering.Real.ProviderConfiguration, "replicas: 2") {
		t.Errorf("got %s", view.Wanted.Rendering.Real.ProviderConfiguration)
	}
	var jobs int
	row := b.Store.Pool.QueryRow(t.Context(), "select count(*) from river_job where kind = 'cluster.bootstrap' and args->>'task_id' = $1", task.ID.String())
	if err := row.Scan(&jobs); err != nil || jobs != 1 {
		t.Errorf("got %d deliveries, %v; want 1", jobs, err)
	}
}

func TestCreationThatIsRefused(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	b.Create(t, "taken", nil)
	cases := []struct {
		name, cluster string
		values        store.Values
		field, key    string
	}{
		{"no name", "", nil, "name", "cluster.name.required"},
		{"bad name", "Big Name", nil, "name", "cluster.name.invalid"},
		{"name is taken", "taken", nil, "name", "cluster.name.taken"},
		{"parameter", "next", store.Values{"workerCount": -1.0}, "values.workerCount", "parameter.too_small"},
		{"name and parameter at once", "", store.Values{"workerCount": -1.0}, "values.workerCount", "parameter.too_small"},
	}
	for _, c := range cases {
		_, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
			WorkspaceID: b.Workspace.ID, Name: c.cluster, TemplateVersionID: b.Lab.ID, Values: c.values, Install: true,
		})
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.Invalid || refused.Fields[c.field].Key != c.key {
			t.Errorf("%s: got %v, want %s of %s", c.name, err, c.key, c.field)
		}
	}
	list, err := b.Clusters(t.Context(), b.Admin, b.Workspace.ID, fleet.ClusterFilter{Limit: 10})
	if err != nil || list.Total != 1 {
		t.Errorf("got %d clusters, %v; want only the first", list.Total, err)
	}
}

func TestAConfigurationErrorIsKeptAndMendingItInstalls(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, task, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: "broken", TemplateVersionID: b.Lab.ID,
		Values: store.Values{"workerCount": "many"}, Install: true, KeepErrors: true,
	})
	if err != nil || task != nil || cluster.Status != store.ClusterConfigurationError {
		t.Fatalf("got %s, task %v, %v", cluster.Status, task, err)
	}
	view, err := b.Cluster(t.Context(), b.Admin, cluster.ID)
	if err != nil || len(view.Wanted.RenderErrors) != 1 || view.Wanted.RenderErrors[0].Section != "workerCount" {
		t.Fatalf("got %+v, %v", view.Wanted.RenderErrors, err)
	}
	after, task, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: 1, Name: "mended", TemplateVersionID: b.Lab.ID, Values: store.Values{"workerCount": 1.0},
	})
	if err != nil || task == nil || task.Kind != store.TaskBootstrap || after.Status != store.ClusterNew || after.Name != "mended" {
		t.Errorf("got %s %s, task %v, %v", after.Name, after.Status, task, err)
	}
}

func TestADoubleSubmitMakesOneCluster(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	nonce := uuid.New()
	wanted := fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: "once", TemplateVersionID: b.Lab.ID, Nonce: &nonce, Install: true}
	first, task, err := b.CreateCluster(t.Context(), b.Admin, wanted)
	if err != nil {
		t.Fatal(err)
	}
	second, again, err := b.CreateCluster(t.Context(), b.Admin, wanted)
	if err != nil || second.ID != first.ID || again == nil || again.ID != task.ID {
		t.Errorf("got cluster %s and task %v, %v; want %s and %s", second.ID, again, err, first.ID, task.ID)
	}
}

func TestChangesOfAnInstalledCluster(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "live", store.Values{"adminPassword": "correct horse"})
	if cluster.Status != store.ClusterInSync || !cluster.WasCreated || *cluster.AppliedRevision != 1 {
		t.Fatalf("got %s, created %v, applied %v", cluster.Status, cluster.WasCreated, *cluster.AppliedRevision)
	}
	change := fleet.ClusterChange{
		Revision: 1, Name: "live", TemplateVersionID: b.Lab.ID,
		Values: store.Values{"workerCount": 3.0, "adminPassword": schema.Mask},
	}
	after, task, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, change)
	if err != nil || task == nil || task.Kind != store.TaskConverge || after.Status != store.ClusterUpdating {
		t.Fatalf("got %s, task %v, %v", after.Status, task, err)
	}
	view, err := b.Cluster(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	if view.Wanted.Values["adminPassword"] != "correct horse" || view.Wanted.Shown["adminPassword"] != schema.Mask {
		t.Errorf("a mask must keep the secret and hide it: got %v and %v", view.Wanted.Values["adminPassword"], view.Wanted.Shown["adminPassword"])
	}
	if shown, _ := json.Marshal(view.Wanted.Rendering.Shown); strings.Contains(string(shown), "correct horse") {
		t.Error("the rendering for people shows the secret")
	}
	if real, _ := json.Marshal(view.Wanted.Rendering.Real); !strings.Contains(string(real), "correct horse") {
		t.Error("the rendering for the cluster lacks the secret")
	}
	_, _, err = b.ChangeCluster(t.Context(), b.Admin, cluster.ID, change)
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("a stale revision: got %v, want a conflict", err)
	}
	change.Revision = 2
	change.Values = store.Values{"workerCount": 3.0, "podSubnet": "10.1.0.0/16"}
	if _, _, err = b.ChangeCluster(t.Context(), b.Admin, cluster.ID, change); !fault.Is(err, fault.Invalid) {
		t.Errorf("an immutable parameter: got %v, want invalid", err)
	}
}

func TestSecretsAreNowhereInTheClear(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	const secret = "correct-horse-battery"
	b.Installed(t, "sealed", store.Values{"adminPassword": secret})
	tables, err := b.Store.Pool.Query(t.Context(), "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for _, name := range names {
		var found int
		query := "select count(*) from " + name + " x where x::text like '%' || $1 || '%' or x::text like '%' || encode($1::bytea, 'hex') || '%' or x::text like '%PRIVATE KEY%'"
		if err := b.Store.Pool.QueryRow(t.Context(), query, secret).Scan(&found); err != nil {
			t.Fatal(err)
		}
		if found > 0 {
			t.Errorf("table %s holds a secret in the clear", name)
		}
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "guarded", nil)
	change := fleet.ClusterChange{Revision: 1, Name: "guarded", TemplateVersionID: b.Lab.ID}
	acts := map[string]func(fleet.Actor) error{
		"look": func(a fleet.Actor) error { _, err := b.Cluster(t.Context(), a, cluster.ID); return err },
		"change": func(a fleet.Actor) error {
			_, _, err := b.ChangeCluster(t.Context(), a, cluster.ID, change)
			return err
		},
		"delete": func(a fleet.Actor) error { _, _, err := b.DeleteCluster(t.Context(), a, cluster.ID); return err },
		"tokens": func(a fleet.Actor) error {
			_, _, err := b.CreateToken(t.Context(), a, b.Workspace.ID, "x", store.RoleFull, 0)
			return err
		},
	}
	cases := []struct {
		act   string
		actor fleet.Actor
		want  fault.Kind
	}{
		{"look", b.Viewer, ""},
		{"look", b.Stranger, fault.NotFound},
		{"change", b.Viewer, fault.Forbidden},
		{"change", b.Stranger, fault.NotFound},
		{"delete", b.Viewer, fault.Forbidden},
		{"delete", b.Stranger, fault.NotFound},
		{"tokens", b.Viewer, fault.Forbidden},
		{"tokens", b.Stranger, fault.NotFound},
		{"tokens", b.Admin, ""},
		{"delete", b.Admin, ""},
	}
	for _, c := range cases {
		if got := fault.KindOf(acts[c.act](c.actor)); got != c.want {
			t.Errorf("%s by %s: got %q, want %q", c.act, c.actor.Name, got, c.want)
		}
	}
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	saved, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: "saved", TemplateVersionID: b.Lab.ID})
	if err != nil {
		t.Fatal(err)
	}
	gone, task, err := b.DeleteCluster(t.Context(), b.Admin, saved.ID)
	if err != nil || task != nil || gone.ArchivedAt == nil {
		t.Errorf("nothing was made for it: got archived at %v, task %v, %v", gone.ArchivedAt, task, err)
	}

	cluster := b.Installed(t, "live", nil)
	token, err := b.NewKubeToken(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	deleting, task, err := b.DeleteCluster(t.Context(), b.Admin, cluster.ID)
	if err != nil || task == nil || deleting.Status != store.ClusterDelete {
		t.Fatalf("got %s, task %v, %v", deleting.Status, task, err)
	}
	b.Run(t, *task, store.TaskFailed)
	if after, _ := b.Store.Cluster(t.Context(), cluster.ID); after.Status != store.ClusterDeletionFailed {
		t.Errorf("got %s after a failed deletion", after.Status)
	}
	retried, err := b.Retry(t.Context(), b.Admin, task.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t, retried, store.TaskSucceeded)
	after, err := b.Store.Cluster(t.Context(), cluster.ID)
	if err != nil || after.ArchivedAt == nil || after.Status != store.ClusterDeleted {
		t.Errorf("got %s archived at %v, %v", after.Status, after.ArchivedAt, err)
	}
	if _, _, err := b.KubeActor(t.Context(), cluster.ID, token.Secret); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("the kubeconfig of a deleted cluster: got %v", err)
	}
	if _, err := b.Store.ClusterState(t.Context(), cluster.ID); err == nil {
		t.Error("the state of a deleted cluster was kept")
	}
	b.Create(t, "live", nil) // the name is free again
}

func TestKubeconfigIsBoundToPersonAndCluster(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	one, two := b.Installed(t, "one", nil), b.Installed(t, "two", nil)
	token, err := b.NewKubeToken(t.Context(), b.Viewer, one.ID)
	if err != nil {
		t.Fatal(err)
	}
	actor, role, err := b.KubeActor(t.Context(), one.ID, token.Secret)
	if err != nil || actor.ID != b.Viewer.ID || role != store.RoleReadOnly {
		t.Errorf("got %s as %q, %v", actor.Name, role, err)
	}
	if _, _, err := b.KubeActor(t.Context(), two.ID, token.Secret); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("another cluster: got %v", err)
	}
	if _, err := b.RevokeKubeTokens(t.Context(), b.Viewer, one.ID, false); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.KubeActor(t.Context(), one.ID, token.Secret); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("revoked: got %v", err)
	}
	if d := token.ExpiresAt.Sub(b.Clock.Now()); d < 7*time.Hour || d > 9*time.Hour {
		t.Errorf("got a lifetime of %s, want about 8 h", d)
	}
}

// TestWhoBeganAndEndedAClusterIsKnown changes a cluster in between, since a later revision has
// another author.
func TestWhoBeganAndEndedAClusterIsKnown(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "prod", nil)
	creator := b.Admin.Name
	if _, _, err := b.ChangeCluster(t.Context(), fleet.System, cluster.ID, fleet.ClusterChange{
		Revision: 1, Name: "prod", TemplateVersionID: b.Lab.ID, Values: store.Values{"workerCount": 4.0},
	}); err != nil {
		t.Fatal(err)
	}
	view, err := b.Cluster(t.Context(), b.Admin, cluster.ID)
	if err != nil || view.CreatedBy != creator || view.ArchivedBy != "" {
		t.Errorf("got created by %q, archived by %q, %v; want created by %q", view.CreatedBy, view.ArchivedBy, err, creator)
	}
	if _, err := b.ArchiveCluster(t.Context(), fleet.System, cluster.ID); err != nil {
		t.Fatal(err)
	}
	view, err = b.Cluster(t.Context(), b.Admin, cluster.ID)
	if err != nil || view.CreatedBy != creator || view.ArchivedBy != fleet.System.Name {
		t.Errorf("got created by %q, archived by %q, %v; want %q and %q", view.CreatedBy, view.ArchivedBy, err, creator, fleet.System.Name)
	}
	list, err := b.Clusters(t.Context(), b.Admin, b.Workspace.ID, fleet.ClusterFilter{Archived: true, Limit: 10})
	if err != nil || list.ArchivedBy[cluster.ID] != fleet.System.Name {
		t.Errorf("got %v, %v", list.ArchivedBy, err)
	}
}
