package console

import (
	"errors"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
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
