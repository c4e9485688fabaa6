package render

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"commander/agents/node/api/v1alpha1"
)

// everyone stands for all groups or all operating systems.
const everyone = "*"

// addScripts puts the users' scripts for a group among its steps. A script that is named like a
// step of the system, or that cannot be rendered, is left out and said so: it stops nothing else.
func addScripts(steps, system Steps, scripts []v1alpha1.NodeGroupConfiguration, group string, context map[string]any, log *slog.Logger) {
	for _, s := range scripts {
		if !slices.Contains(s.Spec.NodeGroups, everyone) && !slices.Contains(s.Spec.NodeGroups, group) {
			continue
		}
		name := fmt.Sprintf("%03d_%s", s.Spec.Weight, s.Name)
		if _, taken := steps[name]; taken || system[name] != "" {
			log.Error("script dropped: a step of the system has its name", "configuration", s.Name, "group", group, "step", name)
			continue
		}
		text, err := execute(name, s.Spec.Content, context)
		if err != nil {
			log.Error("script dropped: it cannot be rendered", "configuration", s.Name, "group", group, "error", err)
			continue
		}
		steps[name] = onlyOn(s.Spec.Bundles) + text
	}
}

// onlyOn ends a script on other operating systems; which one a node has is known only there.
func onlyOn(bundles []string) string {
	if slices.Contains(bundles, everyone) {
		return ""
	}
	quoted := make([]string, len(bundles))
	for i, b := range bundles {
		quoted[i] = "'" + strings.ReplaceAll(b, "'", `'\''`) + "'"
	}
	return "bb-is-bundle? " + strings.Join(quoted, " ") + " || exit 0\n"
}
