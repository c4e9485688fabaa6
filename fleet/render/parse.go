package render

// Parse tells whether a text is a template at all, without values: the same functions are known
// as when it is rendered. The error is a *Problem.
func Parse(name, text string) error {
	_, err := compile(name, text)
	return err
}
