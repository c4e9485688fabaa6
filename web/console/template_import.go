package console

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/templates"
	"commander/views/ui"
	"commander/web/respond"
)

// sentBack bounds what of a refused file a page has room for.
const sentBack = 1 << 20

// inMemory is how much of an uploaded file is kept in memory; the rest is on the disk meanwhile.
const inMemory = 4 << 20

// TemplateImport is the form that takes a template from a file or from pasted text.
func (c *Console) TemplateImport(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.templateImport(w, r, http.StatusOK, workspace, importTyped{nonce: uuid.NewString()}, nil)
}

// importTyped is the form as a person left it.
type importTyped struct{ name, text, nonce string }

func (c *Console) templateImport(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, typed importTyped, refusal *fault.Error) error {
	ctx := r.Context()
	form := templates.Import{
		Slug: workspace.Slug, Nonce: typed.nonce,
		Text: ui.Field{
			Name: templates.FieldText, Kind: ui.Area, Span: 4, Title: i18n.T(ctx, "templates.pasted"), Hint: i18n.T(ctx, "templates.pasted_hint"),
			Value: typed.text, Optional: true,
		},
		Name: ui.Field{
			Name: templates.FieldName, Kind: ui.Text, Span: 4, Title: i18n.T(ctx, "templates.new_name"), Hint: i18n.T(ctx, "templates.new_name_hint"),
			Value: typed.name, Optional: true,
		},
	}
	if refusal != nil {
		form.Message = respond.Message(refusal)
		if file, told := refusal.Fields[fleet.FileField]; told {
			form.Message = i18n.Message(file)
		}
		for section, problem := range refusal.Fields {
			switch section {
			case fleet.FileField:
			case fleet.Name:
				form.Name.Problem, form.Name.Focus = i18n.Message(problem), true
			default:
				form.Problems = append(form.Problems, i18n.Message(problem))
			}
		}
	}
	return c.templatePage(w, r, status, workspace, page{title: i18n.M("templates.import_title"), content: templates.ImportBody(form)})
}

// ImportTemplate makes a template from a file or from pasted text.
func (c *Console) ImportTemplate(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	file, typed, err := importedFile(r)
	if err != nil {
		return err
	}
	var nonce *uuid.UUID
	if parsed, err := uuid.Parse(typed.nonce); err == nil {
		nonce = &parsed
	}
	made, err := c.Fleet.ImportTemplate(r.Context(), actor(r), workspace.ID, file, typed.name, nonce)
	if refusal, is := refused(err); is {
		// A file is not sent back to be sent again, so its text takes its place and can be mended.
		if len(file) <= sentBack {
			typed.text = strings.ToValidUTF8(string(file), "\uFFFD")
		}
		return c.templateImport(w, r, respond.Status(refusal), workspace, typed, refusal)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Template(workspace.Slug, made.ID.String()))
}

// importedFile is what a form brings: the file when there is one, else the pasted text.
func importedFile(r *http.Request) ([]byte, importTyped, error) {
	if err := r.ParseMultipartForm(inMemory); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, importTyped{}, unreadable(err)
	}
	defer func() {
		if r.MultipartForm != nil {
			_ = r.MultipartForm.RemoveAll() // what is left is in the folder for temporary files
		}
	}()
	typed := importTyped{name: r.PostFormValue(templates.FieldName), text: r.PostFormValue(templates.FieldText), nonce: r.PostFormValue(templates.FieldNonce)}
	upload, _, err := r.FormFile(templates.FieldFile)
	if err != nil {
		return []byte(typed.text), typed, nil
	}
	defer func() { _ = upload.Close() }()
	file, err := io.ReadAll(upload)
	if err != nil {
		return nil, typed, unreadable(err)
	}
	if len(file) == 0 {
		file = []byte(typed.text)
	}
	return file, typed, nil
}
