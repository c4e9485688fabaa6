package fleet

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"commander/fleet/render"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// SectionParameters is the schema among the sections of a template.
const SectionParameters = "params"

// ReservedGroup is the name of a resource group that the product keeps for itself in clusters.
const ReservedGroup = "commander-access"

// maxTemplate bounds all texts of a version together, in bytes.
const maxTemplate = 4 << 20

// TemplateProblem is something wrong with a template, where it can be shown.
type TemplateProblem struct {
	// Section is SectionParameters, a section of the configuration, or a group by its place in the
	// list (GroupSection), since the name itself may be what is wrong.
	Section string
	Line    int // of the section's text, 1-based; 0 when the whole section is meant
	Message fault.Message
	// Named tells that the name of a group is meant and not its text.
	Named bool
	// Warning marks what does not keep the template from being saved.
	Warning bool
}

// GroupSection names the n-th resource group, from 0, in problems.
func GroupSection(n int) string { return SectionResources + strconv.Itoa(n) }

var groupName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// checkBody finds what keeps a prepared body from being saved, and gives the schema when it can
// be read.
func checkBody(body TemplateVersionBody) (schema.Schema, []TemplateProblem) {
	var problems []TemplateProblem
	size := 0
	note := func(section string, line int, key string, args ...any) {
		problems = append(problems, TemplateProblem{Section: section, Line: line, Message: fault.Message{Key: key, Args: args}})
	}
	sound := func(section, text string) bool {
		size += len(text)
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			note(section, 0, "template.problem.encoding")
			return false
		}
		return true
	}
	var parameters schema.Schema
	if sound(SectionParameters, body.ParamsText) {
		var problem *TemplateProblem
		if parameters, problem = checkParameters(body.ParamsText); problem != nil {
			problems = append(problems, *problem)
		}
	}
	texts := []struct{ section, text string }{
		{SectionCluster, body.ClusterConfiguration}, {SectionProvider, body.ProviderConfiguration}, {SectionSSH, body.SSHConfiguration}, {SectionInit, body.InitConfiguration},
	}
	for i, g := range body.ResourceGroups {
		section := GroupSection(i)
		texts = append(texts, struct{ section, text string }{section, g.Template})
		if key, bad := badGroupName(body.ResourceGroups, i); bad {
			problems = append(problems, TemplateProblem{Section: section, Named: true, Message: fault.Message{Key: key, Args: []any{g.Name}}})
		}
	}
	for _, t := range texts {
		if !sound(t.section, t.text) {
			continue
		}
		if problem := checkSection(t.section, t.text); problem != nil {
			problems = append(problems, *problem)
		}
	}
	if size > maxTemplate {
		note(SectionParameters, 0, "template.problem.large", maxTemplate>>20)
	}
	return parameters, problems
}

func badGroupName(groups store.ResourceGroups, i int) (key string, bad bool) {
	name := groups[i].Name
	switch {
	case name == "":
		return "template.problem.group_unnamed", true
	case name == ReservedGroup:
		return "template.problem.group_reserved", true
	case !groupName.MatchString(name):
		return "template.problem.group_name", true
	case slices.ContainsFunc(groups[:i], func(g store.ResourceGroup) bool { return g.Name == name }):
		return "template.problem.group_twice", true
	}
	return "", false
}

// checkParameters reads a schema and finds the line that is wrong with it.
func checkParameters(text string) (schema.Schema, *TemplateProblem) {
	parameters, err := schema.ParseYAML(text)
	if err == nil {
		return parameters, nil
	}
	var at *schema.TextError
	if !errors.As(err, &at) {
		return nil, &TemplateProblem{Section: SectionParameters, Message: fault.Message{Key: "schema.yaml", Args: []any{0, err.Error()}}}
	}
	return nil, &TemplateProblem{Section: SectionParameters, Line: at.Line, Message: at.Message}
}

// checkSection finds what is wrong with a template without knowing any values. A text without
// actions renders to itself, so it must be YAML.
func checkSection(section, text string) *TemplateProblem {
	err := render.Parse(section, text)
	if err == nil && !strings.Contains(text, "{{") {
		_, err = render.Normalise(text)
	}
	if err == nil {
		return nil
	}
	found := sectionError(section, err)
	problem := &TemplateProblem{Section: section, Message: fault.Message{Key: found.Key, Args: found.Args}}
	if len(found.Args) > 0 {
		problem.Line, _ = found.Args[0].(int)
	}
	return problem
}

// refused is the answer to a save with problems: the first of each section under its name.
func refused(problems []TemplateProblem) error {
	fields := map[string]fault.Message{}
	for _, p := range problems {
		if _, told := fields[p.Section]; !told && !p.Warning {
			fields[p.Section] = p.Message
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.Fields(fields)
}

// longestTemplateName bounds the name of a template, in characters.
const longestTemplateName = 100

func checkTemplateName(name string) *fault.Message {
	switch {
	case name == "":
		return &fault.Message{Key: "template.name.required"}
	case utf8.RuneCountInString(name) > longestTemplateName:
		return &fault.Message{Key: "template.name.long", Args: []any{longestTemplateName}}
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return &fault.Message{Key: "template.name.characters"}
	}
	return nil
}
