package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// Identity is what an issuer says of a person.
type Identity struct {
	Issuer, Subject string
	Email           string
	EmailVerified   bool
	Name            string
}

const (
	// sessionIdle is how long a session lasts after its last use, sessionLifetime after its start.
	sessionIdle     = 12 * time.Hour
	sessionLifetime = 7 * 24 * time.Hour
	// touchEvery keeps a busy session from writing at each request.
	touchEvery = time.Minute
)

// SignIn makes a session for an identity and returns its secret id. Any earlier session stays
// as it is: the caller drops the one of the same browser.
func (f *Fleet) SignIn(ctx context.Context, who Identity, remote string) (string, store.User, error) {
	secret := store.NewSecret("cmds_")
	var user store.User
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var err error
		user, err = tx.UpsertUser(ctx, store.UpsertUserParams{Issuer: who.Issuer, Subject: who.Subject, Email: who.Email, Name: who.Name})
		if err != nil {
			return err
		}
		if f.isFirstAdmin(who) {
			if err := tx.SetRoleBinding(ctx, store.SetRoleBindingParams{UserID: user.ID, Role: store.RoleFull}); err != nil {
				return err
			}
		}
		if err := tx.InsertSession(ctx, store.InsertSessionParams{IDHash: store.Hash(secret), UserID: user.ID, Lifetime: sessionIdle}); err != nil {
			return err
		}
		actor := Actor{Type: ActorUser, ID: user.ID, Name: displayName(user), RemoteAddress: remote}
		return f.audit(ctx, tx, actor, change{Action: "user.sign_in", ObjectType: "User", ObjectID: user.ID})
	})
	return secret, user, err
}

func (f *Fleet) isFirstAdmin(who Identity) bool {
	if f.FirstAdmin == "" {
		return false
	}
	return f.FirstAdmin == who.Subject || who.EmailVerified && f.FirstAdmin == who.Email
}

// Person is a signed-in person and what they may do.
type Person struct {
	store.User
	Actor Actor
}

// PersonOf is the person of a session. It fails with Unauthenticated when the session is over.
func (f *Fleet) PersonOf(ctx context.Context, secret string) (Person, error) {
	hash := store.Hash(secret)
	row, err := f.Store.SessionUser(ctx, hash)
	if notThere(err) {
		return Person{}, fault.New(fault.Unauthenticated, "fault.session")
	}
	if err != nil {
		return Person{}, store.AsFault(err)
	}
	if f.Clock.Now().Sub(row.SeenAt) > touchEvery {
		if err := f.Store.TouchSession(ctx, store.TouchSessionParams{IDHash: hash, Idle: sessionIdle, Lifetime: sessionLifetime}); err != nil {
			return Person{}, store.AsFault(err)
		}
	}
	actor, err := f.userActor(ctx, row.User)
	return Person{User: row.User, Actor: actor}, err
}

func displayName(user store.User) string {
	for _, name := range []string{user.Email, user.Name, user.Subject} {
		if name != "" {
			return name
		}
	}
	return user.ID.String()
}

// userActor is the actor of a person with the roles that they have now.
func (f *Fleet) userActor(ctx context.Context, user store.User) (Actor, error) {
	bindings, err := f.Store.RoleBindingsOfUser(ctx, user.ID)
	if err != nil {
		return Actor{}, store.AsFault(err)
	}
	actor := Actor{Type: ActorUser, ID: user.ID, Name: displayName(user), Roles: map[uuid.UUID]store.Role{}}
	for _, b := range bindings {
		if b.WorkspaceID == nil {
			actor.Everywhere = b.Role
		} else {
			actor.Roles[*b.WorkspaceID] = b.Role
		}
	}
	return actor, nil
}

// SignOut ends a session.
func (f *Fleet) SignOut(ctx context.Context, secret string) error {
	return store.AsFault(f.Store.DeleteSession(ctx, store.Hash(secret)))
}

// Preferences are how a person likes the pages; empty fields follow the browser.
type Preferences struct{ Language, Theme, Density string }

// SetPreferences keeps them for the person.
func (f *Fleet) SetPreferences(ctx context.Context, userID uuid.UUID, p Preferences) error {
	return store.AsFault(f.Store.SetUserSettings(ctx, store.SetUserSettingsParams{
		ID: userID, Language: p.Language, Theme: p.Theme, Density: p.Density,
	}))
}

// Grant gives an identity a role in a workspace, or everywhere when the workspace is nil. The
// person need not have signed in yet.
func (f *Fleet) Grant(ctx context.Context, issuer, subject string, workspaceID *uuid.UUID, role store.Role) error {
	return f.Store.InTx(ctx, func(tx *store.Tx) error {
		user, err := tx.EnsureUser(ctx, store.EnsureUserParams{Issuer: issuer, Subject: subject})
		if err != nil {
			return err
		}
		if err := tx.SetRoleBinding(ctx, store.SetRoleBindingParams{UserID: user.ID, Role: role, WorkspaceID: workspaceID}); err != nil {
			return err
		}
		return f.audit(ctx, tx, System, change{
			Action: "role.grant", ObjectType: "User", ObjectID: user.ID,
			Changes: map[string]any{"role": role, "workspace": workspaceID},
		})
	})
}

// CleanSessions removes sessions and kubeconfig tokens that are over, and reports how many.
func (f *Fleet) CleanSessions(ctx context.Context) (int64, error) {
	sessions, err := f.Store.DeleteExpiredSessions(ctx)
	if err != nil {
		return 0, store.AsFault(err)
	}
	tokens, err := f.Store.DeleteExpiredKubeTokens(ctx)
	return sessions + tokens, store.AsFault(err)
}
