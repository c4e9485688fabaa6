package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
	"commander/views/templates"
)

// templateTyped is the editor of a template as a person left it.
type templateTyped struct {
	name, comment  string
	body           fleet.TemplateVersionBody
	base, revision int
	nonce, action  string
	// values are those that the draft is tried with; keys are the parameters that had controls, and
	// schema tells which set of controls it was.
	values parameters
	keys   []string
	schema string
	// blocks are the parameters as they are put together; nil before anybody worked on them.
	blocks *schemaWork
}

// mostGroups bounds the controls of a form; nobody writes so many groups.
const mostGroups = 500

func templateTypedIn(r *http.Request) (templateTyped, error) {
	if err := parseForm(r); err != nil {
		return templateTyped{}, err
	}
	form := r.PostForm
	blocks := schemaWorkIn(form, templates.FieldParams)
	t := templateTyped{
		blocks: blocks,
		name:   form.Get(templates.FieldName), comment: form.Get(templates.FieldComment),
		nonce: form.Get(templates.FieldNonce), action: form.Get(templates.FieldAction), schema: form.Get(templates.FieldSchema),
		keys: strings.Fields(form.Get(templates.FieldKeys)), values: parametersIn(form),
		body: fleet.TemplateVersionBody{
			Comment: form.Get(templates.FieldVersionComment), ParamsText: blocks.text,
			ClusterConfiguration: form.Get(templates.FieldCluster), ProviderConfiguration: form.Get(templates.FieldProvider),
			SSHConfiguration: form.Get(templates.FieldSSH), InitConfiguration: form.Get(templates.FieldInit),
		},
	}
	var err error
	if t.revision, err = revisionIn(r); err != nil {
		return t, err
	}
	if t.base, err = countIn(form.Get(templates.FieldBase), fleet.MaxVersionNumber); err != nil {
		return t, err
	}
	groups, err := countIn(form.Get(templates.FieldGroups), mostGroups)
	for n := range groups {
		at := func(what string) string { return form.Get(templates.GroupField(n, what)) }
		t.body.ResourceGroups = append(t.body.ResourceGroups, store.ResourceGroup{
			Name: at(templates.GroupName), Template: at(templates.GroupTemplate),
			Controlled: at(templates.GroupControlled) == "true", UserManaged: at(templates.GroupUserManaged) == "true",
		})
	}
	return t, err
}

// countIn reads a number that a form counts with; none is 0.
func countIn(text string, most int) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, fault.New(fault.Invalid, "fault.form")
	}
	return n, nil
}

// formNonce is the nonce of the form; nil when the form holds none that makes sense.
func (t templateTyped) formNonce() *uuid.UUID {
	nonce, err := uuid.Parse(t.nonce)
	if err != nil {
		return nil
	}
	return &nonce
}

// regroup does what a button for groups asks for, and tells whether one did. focus is the group whose
// name is to be typed next, -1 for none.
func (t *templateTyped) regroup() (done bool, focus int) {
	if t.action == templates.ActionAdd {
		t.body.ResourceGroups = append(t.body.ResourceGroups, store.ResourceGroup{Controlled: true})
		return true, len(t.body.ResourceGroups) - 1
	}
	text, is := strings.CutPrefix(t.action, templates.ActionRemove)
	n, err := strconv.Atoi(text)
	if !is || err != nil || n < 0 || n >= len(t.body.ResourceGroups) {
		return false, -1
	}
	t.body.ResourceGroups = slices.Delete(t.body.ResourceGroups, n, n+1)
	return true, -1
}

// tried completes the values with the defaults of parameters that had no control yet.
func (t *templateTyped) tried(described schema.Schema) {
	for key, value := range typedFrom(described, described.Defaults()) {
		if !slices.Contains(t.keys, key) {
			t.values.values[key] = value
		}
	}
}
