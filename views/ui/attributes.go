package ui

import "github.com/a-h/templ"

// Swap makes an element exchange one part of the page for the fragment it asks for, instead of
// the whole of #main as navigation does.
func Swap(target string) templ.Attributes {
	return templ.Attributes{
		"hx-target":     target,
		"hx-swap":       "outerHTML",
		"hx-select":     "unset",
		"hx-select-oob": "unset",
	}
}

// Explained ties a control to its hint and its problem, and marks it when there is one.
func Explained(f Field) templ.Attributes {
	attributes := templ.Attributes{}
	ids := f.problemID()
	if f.Hint != "" {
		ids = f.hintID() + " " + ids
	}
	attributes["aria-describedby"] = ids
	if !f.Problem.IsZero() {
		attributes["aria-invalid"] = "true"
	}
	if f.Focus {
		attributes["autofocus"] = true
	}
	if f.Locked {
		attributes["readonly"] = true
	}
	return attributes
}

// explainedGroup ties a group of controls to its hint and its problem.
func explainedGroup(f Field) templ.Attributes {
	ids := f.problemID()
	if f.Hint != "" {
		ids = f.hintID() + " " + ids
	}
	attributes := templ.Attributes{"aria-describedby": ids}
	if f.Focus {
		attributes["tabindex"], attributes["autofocus"] = "-1", true
	}
	return attributes
}

// toggle names the two lists of a choice: what all of the one becomes.
func toggle(off bool) string {
	if off {
		return "off"
	}
	return "on"
}

// current marks the link to where the reader is.
func current(here bool) templ.Attributes {
	if !here {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}

// Pressed marks the filter that is on.
func Pressed(on bool) templ.Attributes {
	if !on {
		return nil
	}
	return templ.Attributes{"aria-current": "true"}
}
