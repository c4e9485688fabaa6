package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"commander/store"
)

// redactObjects takes the secrets of a cluster out of what its API server said of objects: it
// quotes the values that it refuses.
func (f *Fleet) redactObjects(ctx context.Context, clusterID uuid.UUID, objects store.AgentObjects) (store.AgentObjects, error) {
	if !slices.ContainsFunc(objects, func(o store.AgentObject) bool { return o.Error != "" }) {
		return objects, nil
	}
	secrets, err := f.secretsInManifests(ctx, clusterID)
	if err != nil {
		return nil, err
	}
	redactor := NewRedactor(secrets)
	out := slices.Clone(objects)
	for i := range out {
		out[i].Error = cut(redactor.Text(out[i].Error))
	}
	return out, nil
}

// longestObjectError bounds, in bytes, what is kept of an error of one object.
const longestObjectError = 2 << 10

// cut shortens a text that is too long, at the end of a character.
func cut(text string) string {
	if len(text) <= longestObjectError {
		return text
	}
	return strings.ToValidUTF8(text[:longestObjectError], "") + "…"
}

// secretsInManifests are the secrets that the manifests of a cluster may hold. Those of the
// revision before are among them: an agent may speak before it has heard of the newest.
func (f *Fleet) secretsInManifests(ctx context.Context, clusterID uuid.UUID) ([]string, error) {
	cluster, err := f.Store.Cluster(ctx, clusterID)
	if err != nil {
		return nil, store.AsFault(err)
	}
	private, err := f.Store.Keys.Unseal("clusters", "ssh_private_key", clusterID, cluster.SshPrivateKey, cluster.SshPrivateKeyKey)
	if err != nil {
		return nil, err
	}
	secrets := []string{string(private)}
	for revision := max(1, cluster.Revision-1); revision <= cluster.Revision; revision++ {
		c, err := f.configuration(ctx, f.Store.Querier, clusterID, revision)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, c.Secrets...)
	}
	return secrets, nil
}
