package fleet

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"commander/store"
)

// Searched reads what a person types to find clusters: words of the form key=value are labels that
// a cluster must have, and the rest is looked for in names and versions. A word that is no label
// stays text, and so does a second value for one key: no cluster has both, and none has "=" in its
// name.
func Searched(text string) (string, store.Labels) {
	labels := store.Labels{}
	var rest []string
	for word := range strings.FieldsSeq(text) {
		key, value, is := strings.Cut(word, "=")
		_, twice := labels[key]
		if is && !twice && labelKey.MatchString(key) && labelValue.MatchString(value) {
			labels[key] = value
			continue
		}
		rest = append(rest, word)
	}
	return strings.Join(rest, " "), labels
}

// CountClusters tells how many clusters of a workspace each filter lets through.
func (f *Fleet) CountClusters(ctx context.Context, actor Actor, workspaceID uuid.UUID, filters []ClusterFilter) ([]int64, error) {
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return nil, err
	}
	counts := make([]int64, len(filters))
	for i, filter := range filters {
		labels, err := encodeLabels(filter.Labels)
		if err != nil {
			return nil, err
		}
		statuses := make([]string, len(filter.Statuses))
		for j, status := range filter.Statuses {
			statuses[j] = string(status)
		}
		if counts[i], err = f.Store.CountClusters(ctx, store.CountClustersParams{
			WorkspaceID: workspaceID, Archived: filter.Archived, Search: filter.Search, Statuses: statuses, Labels: labels,
		}); err != nil {
			return nil, store.AsFault(err)
		}
	}
	return counts, nil
}

// LabelsOf lists the labels of a workspace's clusters outside of the archive with how many have
// each, the frequent ones first.
func (f *Fleet) LabelsOf(ctx context.Context, actor Actor, workspaceID uuid.UUID, most int) ([]store.LabelsOfWorkspaceRow, error) {
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return nil, err
	}
	labels, err := f.Store.LabelsOfWorkspace(ctx, store.LabelsOfWorkspaceParams{WorkspaceID: workspaceID, Most: most})
	return labels, store.AsFault(err)
}
