// Package template keeps on each node what the template of its group says.
package template

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "commander/agents/node/api/v1"
)

// mergeMap makes the live entries follow the wanted ones: those that were applied before and are
// no longer wanted go, those that somebody else set stay.
func mergeMap(live, wanted, last map[string]string) map[string]string {
	merged := maps.Clone(live)
	if merged == nil {
		merged = map[string]string{}
	}
	for key := range last {
		if _, still := wanted[key]; !still {
			delete(merged, key)
		}
	}
	maps.Copy(merged, wanted)
	return merged
}

// taintKey is what tells taints apart.
type taintKey struct {
	key    string
	effect corev1.TaintEffect
}

// mergeTaints does the same for taints; the order of those that stay is kept.
func mergeTaints(live []corev1.Taint, wanted, last []v1.Taint) []corev1.Taint {
	want := map[taintKey]v1.Taint{}
	for _, t := range wanted {
		want[taintKey{t.Key, t.Effect}] = t
	}
	was := map[taintKey]bool{}
	for _, t := range last {
		was[taintKey{t.Key, t.Effect}] = true
	}
	var merged []corev1.Taint
	for _, t := range live {
		key := taintKey{t.Key, t.Effect}
		w, wanted := want[key]
		switch {
		case wanted && t.Value == w.Value:
			merged = append(merged, t)
			delete(want, key)
		case wanted || was[key]:
			// Added anew below, or not wanted any more.
		default:
			merged = append(merged, t)
		}
	}
	for _, t := range wanted {
		key := taintKey{t.Key, t.Effect}
		if _, missing := want[key]; missing {
			merged = append(merged, corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
	}
	return slices.Clip(merged)
}
