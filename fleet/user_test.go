package fleet_test

import (
	"testing"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	first, second := b.Session(t, "ada", "ada@example.com"), b.Session(t, "ada", "ada@new.example.com")
	person, err := b.PersonOf(t.Context(), first)
	if err != nil || person.Email != "ada@new.example.com" || person.Actor.HasRole() {
		t.Errorf("got %s with a role %v, %v: the account follows the issuer", person.Email, person.Actor.HasRole(), err)
	}
	if err := b.SignOut(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PersonOf(t.Context(), first); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a session that ended: got %v", err)
	}
	if _, err := b.PersonOf(t.Context(), second); err != nil {
		t.Errorf("the other session ended too: %v", err)
	}
}

func TestAnUnverifiedAddressIsNobodysAdministrator(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	secret, _, err := b.SignIn(t.Context(), fleet.Identity{Issuer: fleettest.Issuer, Subject: "mallory", Email: "admin@example.com"}, "")
	if err != nil {
		t.Fatal(err)
	}
	person, err := b.PersonOf(t.Context(), secret)
	if err != nil || person.Actor.HasRole() {
		t.Errorf("got a role %v, %v", person.Actor.HasRole(), err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	token, secret, err := b.CreateToken(t.Context(), b.Admin, b.Workspace.ID, "robot", store.RoleReadOnly, 0)
	if err != nil {
		t.Fatal(err)
	}
	actor, workspace, err := b.TokenActor(t.Context(), secret)
	if err != nil || workspace.ID != b.Workspace.ID || actor.Role(workspace.ID) != store.RoleReadOnly || actor.Name != "robot" {
		t.Errorf("got %+v in %s, %v", actor, workspace.Slug, err)
	}
	if _, err := b.RevokeToken(t.Context(), b.Admin, token.ID); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{secret, "", fleet.TokenPrefix, "x" + secret} {
		if _, _, err := b.TokenActor(t.Context(), text); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestPresetsAreUpgradedOnlyWhenNobodyTouchedThem(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	for range 2 {
		if err := b.EnsurePresets(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	template, versions, err := b.Template(t.Context(), b.Viewer, b.Lab.TemplateID)
	if err != nil || len(versions) != 1 {
		t.Fatalf("got %d versions, %v: the same preset must not make another", len(versions), err)
	}
	if _, err := b.Store.Pool.Exec(t.Context(), "update cluster_template_versions set cluster_configuration = 'old: 1' where template_id = $1", template.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.EnsurePresets(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, versions, _ = b.Template(t.Context(), b.Viewer, template.ID)
	if len(versions) != 2 || versions[0].Number != 2 {
		t.Fatalf("got %d versions, want the upgrade as the second", len(versions))
	}
	body := fleet.BodyOf(versions[0])
	body.ClusterConfiguration = "mine: 1"
	template, _, _ = b.Template(t.Context(), b.Admin, template.ID)
	if _, err := b.ChangeTemplate(t.Context(), b.Admin, template.ID, fleet.TemplateChange{Revision: template.CurrentRevision, Name: template.Name, Comment: template.Comment, Body: &body}); err != nil {
		t.Fatal(err)
	}
	if err := b.EnsurePresets(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, versions, _ = b.Template(t.Context(), b.Viewer, template.ID); len(versions) != 3 {
		t.Errorf("a template that a person edited was overwritten")
	}
}
