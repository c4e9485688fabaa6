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

// longestSearch and mostWords bound what is looked for: each word is a condition of its own.
const (
	longestSearch = 200
	mostWords     = 8
)

// searchWords are what a name or version must hold. Both are written in small letters.
func searchWords(text string) []string {
	runes := []rune(strings.ToLower(text))
	words := strings.Fields(string(runes[:min(len(runes), longestSearch)]))
	return words[:min(len(words), mostWords)]
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
