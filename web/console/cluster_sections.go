package console

import (
	"strings"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/ui"
)

// sectionTitles name the parts of a configuration; resource groups have names of their own.
var sectionTitles = map[string]i18n.Message{
	fleet.SectionCluster:  i18n.M("section.kubernetes"),
	fleet.SectionProvider: i18n.M("section.placement"),
	fleet.SectionSSH:      i18n.M("section.ssh"),
	fleet.SectionInit:     i18n.M("section.init"),
}

func sectionTitle(section string) i18n.Message {
	if group, is := strings.CutPrefix(section, fleet.SectionResources); is {
		return i18n.Plain(group)
	}
	if title, known := sectionTitles[section]; known {
		return title
	}
	return i18n.Plain(section)
}

// part is a section of a configuration with its text.
type part struct{ section, text string }

func partsOf(rendered store.Rendered) []part {
	parts := []part{
		{fleet.SectionCluster, rendered.ClusterConfiguration},
		{fleet.SectionProvider, rendered.ProviderConfiguration},
		{fleet.SectionSSH, rendered.SSHConfiguration},
		{fleet.SectionInit, rendered.InitConfiguration},
	}
	for _, group := range rendered.Groups {
		parts = append(parts, part{fleet.SectionResources + group.Name, group.Manifests})
	}
	return parts
}

// sections are the parts of a configuration with what keeps each from being made. Those
// of the installation and of SSH are optional and left out when they are empty.
func sections(shown store.Rendered, found store.RenderErrors) []clusters.Section {
	var out []clusters.Section
	for _, p := range partsOf(shown) {
		s := clusters.Section{Title: sectionTitle(p.section), YAML: p.text}
		for _, e := range found {
			if e.Section == p.section && !e.Parameter {
				s.Problem = messageOf(e)
				break
			}
		}
		optional := p.section == fleet.SectionInit || p.section == fleet.SectionSSH
		if optional && s.YAML == "" && s.Problem.IsZero() {
			continue
		}
		out = append(out, s)
	}
	return out
}

// differences compare what is declared with what was applied last.
func differences(declared, applied store.Rendered) []clusters.SectionDiff {
	before := map[string]string{}
	for _, p := range partsOf(applied) {
		before[p.section] = p.text
	}
	var out []clusters.SectionDiff
	for _, p := range partsOf(declared) {
		old := before[p.section]
		delete(before, p.section)
		if p.text == "" && old == "" {
			continue
		}
		out = append(out, clusters.SectionDiff{Title: sectionTitle(p.section), Lines: ui.Compare(old, p.text)})
	}
	for _, p := range partsOf(applied) {
		if old, gone := before[p.section]; gone && old != "" {
			out = append(out, clusters.SectionDiff{Title: sectionTitle(p.section), Lines: ui.Compare(old, "")})
		}
	}
	return out
}

// placeOf says where a problem of a configuration is: a section, or a parameter by its title.
func placeOf(parameters schema.Schema, e store.RenderError) i18n.Message {
	if !e.Parameter {
		return sectionTitle(e.Section)
	}
	for _, f := range parameters.Fields() {
		if f.Key == e.Section {
			return i18n.Plain(f.Title)
		}
	}
	return i18n.Plain(e.Section)
}

func messageOf(e store.RenderError) i18n.Message { return i18n.Message{Key: e.Key, Args: e.Args} }
