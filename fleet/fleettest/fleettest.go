// Package fleettest gives tests a fleet over a database of their own, with a workspace, the
// shipped templates and people to act.
package fleettest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"commander/fleet"
	"commander/internal/clock"
	"commander/store"
	"commander/store/storetest"
)

// Issuer is that of the people in tests.
const Issuer = "https://issuer.test"

// Bench is what a test begins with.
type Bench struct {
	*fleet.Fleet
	Clock     *clock.Fake
	Workspace store.Workspace
	// Admin has the full role everywhere, Viewer may look at Workspace, Stranger has no role.
	Admin, Viewer, Stranger fleet.Actor
	// Lab is the current version of the preset Lab.
	Lab store.ClusterTemplateVersion
}

// New makes a fleet whose jobs are inserted and worked on by nobody.
func New(t testing.TB) *Bench {
	t.Helper()
	s := storetest.New(t)
	queue, err := river.NewClient(riverpgxv5.New(s.Pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("make a queue: %v", err)
	}
	// The database's clock is the real one: rules that compare with it need a fake that is near.
	now := clock.At(time.Now().UTC())
	b := &Bench{Clock: now, Fleet: &fleet.Fleet{
		Store: s, Queue: queue, Clock: now, Log: slog.New(slog.DiscardHandler),
		Settings: fleet.Settings{PublicURL: "https://commander.test", FirstAdmin: "admin@example.com"},
	}}
	if b.Workspace, err = b.EnsureWorkspace(t.Context(), "demo", "Demo"); err != nil {
		t.Fatalf("make a workspace: %v", err)
	}
	b.Admin = b.Person(t, "admin", "admin@example.com").Actor
	b.Viewer = b.Person(t, "viewer", "viewer@example.com").Actor
	if err := b.Grant(t.Context(), Issuer, "viewer", &b.Workspace.ID, store.RoleReadOnly); err != nil {
		t.Fatalf("grant a role: %v", err)
	}
	b.Viewer = b.Person(t, "viewer", "viewer@example.com").Actor
	b.Stranger = b.Person(t, "stranger", "stranger@example.com").Actor
	templates, err := b.Templates(t.Context(), b.Admin, b.Workspace.ID, false)
	if err != nil {
		t.Fatalf("read the templates: %v", err)
	}
	for _, row := range templates {
		if row.ClusterTemplate.Preset == "lab" {
			if b.Lab, err = s.TemplateVersion(t.Context(), *row.ClusterTemplate.CurrentVersionID); err != nil {
				t.Fatalf("read the template Lab: %v", err)
			}
		}
	}
	return b
}

// Person signs somebody in.
func (b *Bench) Person(t testing.TB, subject, email string) fleet.Person {
	t.Helper()
	secret := b.Session(t, subject, email)
	person, err := b.PersonOf(t.Context(), secret)
	if err != nil {
		t.Fatalf("read the session of %s: %v", subject, err)
	}
	return person
}

// Session signs somebody in and returns the secret id of the session.
func (b *Bench) Session(t testing.TB, subject, email string) string {
	t.Helper()
	secret, _, err := b.SignIn(t.Context(), fleet.Identity{
		Issuer: Issuer, Subject: subject, Email: email, EmailVerified: true, Name: subject,
	}, "127.0.0.1")
	if err != nil {
		t.Fatalf("sign %s in: %v", subject, err)
	}
	return secret
}

// Create makes a cluster from the preset Lab with the given values and starts its installation.
func (b *Bench) Create(t testing.TB, name string, values store.Values) (store.Cluster, store.Task) {
	t.Helper()
	cluster, task, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: b.Lab.ID, Values: values, Install: true,
	})
	if err != nil {
		t.Fatalf("create cluster %s: %v", name, err)
	}
	return cluster, *task
}

// Installed makes a cluster whose installation has succeeded.
func (b *Bench) Installed(t testing.TB, name string, values store.Values) store.Cluster {
	t.Helper()
	cluster, task := b.Create(t, name, values)
	b.Run(t, task, store.TaskSucceeded)
	after, err := b.Store.Cluster(t.Context(), cluster.ID)
	if err != nil {
		t.Fatalf("read cluster %s: %v", name, err)
	}
	return after
}

// Run claims a task as a worker would and ends it with a status.
func (b *Bench) Run(t testing.TB, task store.Task, status store.TaskStatus) {
	t.Helper()
	d := fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}
	if _, err := b.Claim(t.Context(), d, "test"); err != nil {
		t.Fatalf("claim task %s: %v", task.Kind, err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: status, State: []byte(`{"a":"Yg=="}`)}); err != nil {
		t.Fatalf("finish task %s: %v", task.Kind, err)
	}
}

// Silence makes a running task look as if it had been silent for a while.
func (b *Bench) Silence(t testing.TB, taskID uuid.UUID, since time.Duration) {
	t.Helper()
	if _, err := b.Store.Pool.Exec(t.Context(), "update tasks set heartbeat_at = now() - $2::interval where id = $1", taskID, since); err != nil {
		t.Fatalf("silence task %s: %v", taskID, err)
	}
}
