package console

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/tokens"
	"commander/web/respond"
)

// Tokens lists the API tokens of a workspace.
func (c *Console) Tokens(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.tokens(w, r, http.StatusOK, workspace, tokens.Page{})
}

func (c *Console) tokens(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, p tokens.Page) error {
	rows, err := c.Fleet.Tokens(r.Context(), actor(r), workspace.ID)
	if err != nil {
		return err
	}
	p.Slug = workspace.Slug
	p.CanCreate = fleet.May(actor(r).Role(workspace.ID), fleet.TokensEdit)
	all := make([]tokens.Row, 0, len(rows))
	for _, t := range rows {
		all = append(all, tokens.Row{
			ID: t.ID.String(), Name: t.Name, Role: roleName(t.Role), CreatedBy: t.CreatedBy, CreatedAt: t.CreatedAt,
			ExpiresAt: moment(t.ExpiresAt), UsedAt: moment(t.LastUsedAt), RevokedAt: moment(t.RevokedAt), CanRevoke: p.CanCreate,
		})
	}
	query, total := paths.ParseQuery(r.URL.Query()), 0
	p.Rows, total = tokenRows.find(c, query, all)
	p.Any, p.Table = len(all) > 0, c.table(query, paths.Tokens(workspace.Slug), "-"+tokens.SortCreated, "tokens.filter", len(p.Rows), total)
	return c.show(w, r, status, page{
		title: i18n.M("tokens.title"), section: layout.SectionTokens, workspace: &workspace, content: tokens.Body(p),
	})
}

var tokenRows = handful[tokens.Row]{
	text: func(row tokens.Row) string { return row.Name + " " + row.CreatedBy },
	orders: map[string]func(a, b tokens.Row) int{
		tokens.SortName:    byName(func(row tokens.Row) string { return row.Name }),
		tokens.SortUsed:    by(func(row tokens.Row) int64 { return row.UsedAt.Unix() }),
		tokens.SortExpires: by(func(row tokens.Row) int64 { return row.ExpiresAt.Unix() }),
		tokens.SortCreated: by(func(row tokens.Row) int64 { return row.CreatedAt.UnixNano() }),
	},
}

// longestTokenLife bounds what may be asked for, in days.
const longestTokenLife = 3650

// CreateToken makes a token and shows its secret, this once.
func (c *Console) CreateToken(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	form := tokens.Form{
		Name: r.PostForm.Get(tokens.FieldName), Role: r.PostForm.Get(tokens.FieldRole), Days: r.PostForm.Get(tokens.FieldDays),
	}
	lifetime, whole := days(form.Days)
	if !whole {
		form.Problems = map[string]i18n.Message{tokens.FieldDays: i18n.M("tokens.problem.days")}
		return c.tokens(w, r, http.StatusUnprocessableEntity, workspace, tokens.Page{Form: form})
	}
	roles := map[string]store.Role{tokens.RoleFull: store.RoleFull, tokens.RoleRead: store.RoleReadOnly}
	token, secret, err := c.Fleet.CreateToken(r.Context(), actor(r), workspace.ID, form.Name, roles[form.Role], lifetime)
	var invalid *fault.Error
	if errors.As(err, &invalid) && invalid.Kind == fault.Invalid {
		form.Problems = messages(invalid.Fields)
		return c.tokens(w, r, http.StatusUnprocessableEntity, workspace, tokens.Page{Form: form})
	}
	if err != nil {
		return err
	}
	return c.tokens(w, r, http.StatusOK, workspace, tokens.Page{Secret: secret, SecretName: token.Name})
}

// days reads how long a token lives; nothing means for ever.
func days(typed string) (time.Duration, bool) {
	if typed == "" {
		return 0, true
	}
	n, err := strconv.Atoi(typed)
	return time.Duration(n) * 24 * time.Hour, err == nil && n > 0 && n <= longestTokenLife
}

// messages are the problems of a form as views have them.
func messages(fields map[string]fault.Message) map[string]i18n.Message {
	out := make(map[string]i18n.Message, len(fields))
	for name, m := range fields {
		out[name] = i18n.Message(m)
	}
	return out
}

// RevokeToken voids a token.
func (c *Console) RevokeToken(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	token, err := id(r)
	if err != nil {
		return err
	}
	if _, err := c.Fleet.RevokeToken(r.Context(), actor(r), token); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Tokens(workspace.Slug))
}
