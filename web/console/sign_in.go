package console

import (
	"net/http"

	"github.com/a-h/templ"

	"commander/internal/fault"
	"commander/views/access"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/web/respond"
	"commander/web/session"
)

// reasons say why a person is at the sign-in page again.
var reasons = map[string]i18n.Message{
	paths.SignInFailed:    i18n.M("access.failed"),
	paths.SignInExpired:   i18n.M("access.expired"),
	paths.SignInSignedOut: i18n.M("access.signed_out"),
}

// SignIn offers to sign in, and leads on who is signed in already.
func (c *Console) SignIn(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	back := respond.LocalPath(query.Get("return"))
	switch _, err := c.Sessions.Of(r); {
	case err == nil && back == "":
		return respond.Leave(w, r, paths.Start())
	case err == nil:
		return respond.Leave(w, r, back)
	case !fault.Is(err, fault.Unauthenticated):
		return err
	}
	why := query.Get("why")
	body := access.SignInBody(access.SignIn{Back: back, Notice: reasons[why], Failed: why == paths.SignInFailed})
	return c.bare(w, r, http.StatusOK, i18n.M("access.title"), body)
}

// NoAccess tells a person who is signed in that nobody has given them a role.
func (c *Console) NoAccess(w http.ResponseWriter, r *http.Request) error {
	person := session.Person(r.Context())
	body := access.NoAccessBody(access.NoAccess{Name: displayName(person), Email: person.Email, Subject: person.Subject})
	return c.bare(w, r, http.StatusForbidden, i18n.M("access.none"), body)
}

func (c *Console) bare(w http.ResponseWriter, r *http.Request, status int, title i18n.Message, body templ.Component) error {
	frame := c.Frame(r)
	frame.Title = title
	whole := layout.Bare(frame, body)
	return respond.HTML(w, r, status, whole, whole)
}
