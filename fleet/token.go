package fleet

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// TokenPrefix begins every token of the REST API, so that a leaked one can be recognised.
const TokenPrefix = "cmdr_"

// Tokens lists the tokens of a workspace; their secrets are not known any more.
func (f *Fleet) Tokens(ctx context.Context, actor Actor, workspaceID uuid.UUID) ([]store.AuthToken, error) {
	if err := Allowed(actor, TokensView, workspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.AuthTokens(ctx, workspaceID)
	return rows, store.AsFault(err)
}

// CreateToken makes a token of a workspace and returns its secret, which is told only now. A zero
// lifetime never ends.
func (f *Fleet) CreateToken(ctx context.Context, actor Actor, workspaceID uuid.UUID, name string, role store.Role, lifetime time.Duration) (store.AuthToken, string, error) {
	if err := Allowed(actor, TokensEdit, workspaceID); err != nil {
		return store.AuthToken{}, "", err
	}
	name = strings.TrimSpace(name)
	problems := map[string]fault.Message{}
	if name == "" || len(name) > 100 {
		problems["name"] = fault.Message{Key: "token.name"}
	}
	if role != store.RoleFull && role != store.RoleReadOnly {
		problems["role"] = fault.Message{Key: "token.role"}
	}
	if len(problems) > 0 {
		return store.AuthToken{}, "", fault.Fields(problems)
	}
	secret := store.NewSecret(TokenPrefix)
	var expires *time.Time
	if lifetime > 0 {
		at := f.Clock.Now().Add(lifetime)
		expires = &at
	}
	var token store.AuthToken
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		token, err = tx.InsertAuthToken(ctx, store.InsertAuthTokenParams{
			WorkspaceID: workspaceID, Name: name, Role: role, Hash: store.Hash(secret), CreatedBy: actor.Signature(), ExpiresAt: expires,
		})
		if err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "token.create", ObjectType: "AuthToken", ObjectID: token.ID, Workspace: workspace,
			Changes: map[string]any{"name": name, "role": role},
		})
	})
	return token, secret, err
}

// RevokeToken voids a token at once.
func (f *Fleet) RevokeToken(ctx context.Context, actor Actor, id uuid.UUID) (store.AuthToken, error) {
	var token store.AuthToken
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var err error
		if token, err = tx.AuthToken(ctx, id); err != nil {
			return err
		}
		if err := Allowed(actor, TokensEdit, token.WorkspaceID); err != nil {
			return err
		}
		workspace, err := tx.Workspace(ctx, token.WorkspaceID)
		if err != nil {
			return err
		}
		if err := tx.RevokeAuthToken(ctx, id); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "token.revoke", ObjectType: "AuthToken", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": token.Name},
		})
	})
	return token, err
}

// TokenActor is who a token of the REST API acts as, and the workspace it is for. It fails with
// Unauthenticated when the token is unknown, revoked or over.
func (f *Fleet) TokenActor(ctx context.Context, secret string) (Actor, store.Workspace, error) {
	unknown := fault.New(fault.Unauthenticated, "fault.token")
	if !strings.HasPrefix(secret, TokenPrefix) {
		return Actor{}, store.Workspace{}, unknown
	}
	token, err := f.Store.AuthTokenByHash(ctx, store.Hash(secret))
	if notThere(err) {
		return Actor{}, store.Workspace{}, unknown
	}
	if err != nil {
		return Actor{}, store.Workspace{}, store.AsFault(err)
	}
	if err := f.Store.TouchAuthToken(ctx, token.ID); err != nil {
		return Actor{}, store.Workspace{}, store.AsFault(err)
	}
	workspace, err := f.Store.Workspace(ctx, token.WorkspaceID)
	return Actor{
		Type: ActorToken, ID: token.ID, Name: token.Name, Owner: token.CreatedBy, Roles: map[uuid.UUID]store.Role{token.WorkspaceID: token.Role},
	}, workspace, store.AsFault(err)
}
