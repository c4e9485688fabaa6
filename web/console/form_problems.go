package console

import (
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/ui"
	"commander/web/respond"
)

// refused tells whether an error is the kind that a form answers itself: the person can mend it.
func refused(err error) (*fault.Error, bool) {
	var known *fault.Error
	is := errors.As(err, &known) && (known.Kind == fault.Invalid || known.Kind == fault.Conflict)
	return known, is
}

// parameterProblems are those of a preview that belong to controls.
func parameterProblems(found store.RenderErrors) map[string]fault.Message {
	problems := map[string]fault.Message{}
	for _, e := range found {
		name := fleet.ValueField(e.Section)
		if _, taken := problems[name]; e.Parameter && !taken {
			problems[name] = fault.Message{Key: e.Key, Args: e.Args}
		}
	}
	return problems
}

// told are the problems of a save that was refused.
func told(refusal *fault.Error) func(fleet.Preview) map[string]fault.Message {
	return func(fleet.Preview) map[string]fault.Message { return refusal.Fields }
}

// whileTyping are the problems of a form that is being filled in.
func whileTyping(p fleet.Preview) map[string]fault.Message { return parameterProblems(p.Errors) }

// previewFragment answers a form that is being filled in: one field, when the page asks for it, or
// what the form makes.
func previewFragment(r *http.Request, form clusters.Form) templ.Component {
	if field, is := asked(r, form); is {
		return ui.Input(field)
	}
	return clusters.PreviewFragment(clusters.Preview{Sections: form.Sections, Fields: allFields(form)})
}

// summary is the sentence above a form that was refused.
func summary(form *clusters.Form, err *fault.Error, found store.RenderErrors) i18n.Message {
	if n := focusFirst(form); n > 0 {
		return i18n.M("form.problems", n)
	}
	if len(err.Fields) == 0 {
		return respond.Message(err)
	}
	for _, e := range found {
		if !e.Parameter {
			return i18n.M("cluster.render_error", sectionTitle(e.Section))
		}
	}
	for _, problem := range err.Fields { // of something that the form has no control for
		return i18n.Message(problem)
	}
	return respond.Message(err)
}
