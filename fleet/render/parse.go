package render

import "text/template"

// Parse tells whether a text is a template at all, without values: the same functions are known
// as when it is rendered. The error is a *Problem.
func Parse(name, text string) error {
	if _, err := template.New(name).Funcs(functions(Input{})).Parse(text); err != nil {
		return templateProblem(name, err)
	}
	return nil
}
