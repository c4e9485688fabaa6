package tokens

import (
	"context"

	"commander/views/i18n"
	"commander/views/ui"
)

// The roles a token can have.
const (
	RoleFull = "full"
	RoleRead = "read"
)

func roles(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: RoleRead, Text: i18n.T(ctx, "role.read")},
		{Value: RoleFull, Text: i18n.T(ctx, "role.full")},
	}
}

// roleOr starts a form with the smaller right.
func roleOr(role string) string {
	if role == "" {
		return RoleRead
	}
	return role
}
