package console

import (
	"net/http"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/templates"
	"commander/views/ui"
)

// TemplateComparison shows two versions of a template side by side: those that are asked for, or the
// newest beside the one before it.
func (c *Console) TemplateComparison(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	numbers, err := c.Fleet.TemplateNumbers(r.Context(), actor(r), t.ClusterTemplate)
	if err != nil {
		return err
	}
	if len(numbers) == 0 {
		return fault.New(fault.NotFound, "fault.not_found")
	}
	asked := paths.ParseComparison(r.URL.Query())
	if asked.To == 0 {
		asked.To = numbers[0]
	}
	if asked.From == 0 {
		asked.From = before(numbers, asked.To)
	}
	_, from, err := c.Fleet.NumberedVersion(r.Context(), actor(r), t.ID, asked.From)
	if err != nil {
		return err
	}
	_, to, err := c.Fleet.NumberedVersion(r.Context(), actor(r), t.ID, asked.To)
	if err != nil {
		return err
	}
	shown := templates.ComparisonPage{
		Head: templateHead(r, t, templates.TabComparison), Comparison: asked, Numbers: numbers,
		Parts: comparedParts(fleet.BodyOf(from), fleet.BodyOf(to), !asked.All),
	}
	return c.templatePage(w, r, http.StatusOK, t.Workspace, page{
		title: i18n.Plain(t.Name), tab: i18n.M("templates.comparison"), content: templates.ComparisonBody(shown),
	})
}

// before is the version before one, or that one itself when it is the first. The newest come first.
func before(numbers []int, number int) int {
	for _, n := range numbers {
		if n < number {
			return n
		}
	}
	return number
}

// comparedParts are the parts in which two versions differ; all of them with equal lines, on demand.
func comparedParts(from, to fleet.TemplateVersionBody, onlyChanged bool) []templates.Compared {
	var parts []templates.Compared
	add := func(p templates.Compared, before, after string) {
		if before == after && !p.Moved && (onlyChanged || before == "") {
			return
		}
		p.Rows, p.Cut = ui.Sides(before, after, onlyChanged)
		parts = append(parts, p)
	}
	left, right := textsOf(from), textsOf(to)
	for i := range len(left) - len(from.ResourceGroups) { // the parts that every version has
		add(templates.Compared{Title: left[i].Title}, left[i].YAML, right[i].YAML)
	}
	groups := map[string]store.ResourceGroup{}
	for _, g := range to.ResourceGroups {
		groups[g.Name] = g
	}
	for _, g := range from.ResourceGroups {
		other, kept := groups[g.Name]
		delete(groups, g.Name)
		p := templates.Compared{Title: i18n.Plain(g.Name), Before: keepingOf(g)}
		if kept {
			p.After = keepingOf(other)
		}
		p.Moved = !kept || *p.Before != *p.After
		add(p, g.Template, other.Template)
	}
	for _, g := range to.ResourceGroups {
		if _, added := groups[g.Name]; added {
			add(templates.Compared{Title: i18n.Plain(g.Name), After: keepingOf(g), Moved: true}, "", g.Template)
		}
	}
	return parts
}
