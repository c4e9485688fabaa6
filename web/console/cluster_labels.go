package console

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/web/respond"
)

// labelsOf are labels in the order of their keys, each with the list at an address.
func labelsOf(labels store.Labels, at func(paths.Query) string) []clusters.Label {
	out := make([]clusters.Label, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		text := key + "=" + labels[key]
		out = append(out, clusters.Label{Text: text, Href: at(paths.Query{Text: text})})
	}
	return out
}

func savedLabels(view fleet.ClusterView) clusters.Labels {
	saved := labelsOf(view.Labels, func(q paths.Query) string { return paths.ClusterList(view.Workspace.Slug, q) })
	lines := make([]string, len(saved))
	for i, label := range saved {
		lines[i] = label.Text
	}
	return clusters.Labels{Saved: saved, Typed: strings.Join(lines, "\n")}
}

// SaveLabels replaces the labels of a cluster.
func (c *Console) SaveLabels(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	typed := r.PostForm.Get(clusters.FieldLabels)
	labels, err := fleet.ParseLabels(typed)
	if err == nil {
		_, err = c.Fleet.SetLabels(r.Context(), actor(r), view.ID, labels)
	}
	if refusal, is := refused(err); is {
		overview := c.overview(view, actor(r))
		overview.Labels.Typed, overview.Labels.Problem = typed, i18n.Message(refusal.Fields[fleet.LabelsField])
		if overview.Labels.Problem.IsZero() {
			overview.Labels.Problem = respond.Message(err)
		}
		return c.clusterPage(w, r, respond.Status(refusal), view, partsOverview, page{content: clusters.OverviewBody(overview)})
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Cluster(view.ID.String()))
}

// shownLabels is how many labels the list's filter offers: those that most clusters have.
const shownLabels = 30

// Labels offers the labels of a workspace's clusters: each added to what the list is asked for
// already, or taken out of it.
func (c *Console) Labels(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	labels, err := c.Fleet.LabelsOf(r.Context(), actor(r), workspace.ID, shownLabels)
	if err != nil {
		return err
	}
	list := clusters.LabelList{Slug: workspace.Slug, Query: paths.ParseQuery(r.URL.Query())}
	for _, label := range labels {
		list.Labels = append(list.Labels, labelFilter(list, label))
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("labels.title"), section: layout.SectionClusters, workspace: &workspace,
		content: clusters.LabelsBody(list), fragment: clusters.LabelsFragment(list),
	})
}

func labelFilter(list clusters.LabelList, label store.LabelsOfWorkspaceRow) clusters.LabelFilter {
	_, on := fleet.Searched(list.Query.Text)
	f := clusters.LabelFilter{Text: label.Key + "=" + label.Value, Count: int(label.Clusters)}
	var words []string
	for word := range strings.FieldsSeq(list.Query.Text) {
		if !strings.HasPrefix(word, label.Key+"=") {
			words = append(words, word)
		}
	}
	value, there := on[label.Key]
	if f.Pressed = there && value == label.Value; !f.Pressed {
		words = append(words, f.Text)
	}
	f.Href = paths.ClusterList(list.Slug, list.Query.Finding(strings.Join(words, " ")))
	return f
}
