package fleet_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/ssh"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

// TestEachClusterHasItsOwnKeysAndIdentifier reads them where a template gets them.
func TestEachClusterHasItsOwnKeysAndIdentifier(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	b.CABundle = "a bundle"
	version := familyOf(t, b, "keys", fleet.TemplateVersionBody{
		ParamsText:           "- {key: count, type: number, title: Workers, default: 1}\n",
		ClusterConfiguration: "kind: ClusterConfiguration\npublic: {{ .dc_sshPublicKey | quote }}\nid: {{ .dc_clusterUUID }}\ndomain: {{ .dc_domain }}\nca: {{ .dc_caBundle }}\n",
		InitConfiguration:    "key: {{ .dc_sshPrivateKey | quote }}\n",
	})[0]
	seen := map[string]string{}
	for _, name := range []string{"first", "second"} {
		cluster := on(t, b, version, name, nil)
		view, err := b.Cluster(t.Context(), b.Admin, cluster.ID)
		require.NoError(t, err)
		real, shown := view.Wanted.Rendering.Real, view.Wanted.Rendering.Shown
		public := valueOf(t, real.ClusterConfiguration, "public")
		require.NotContains(t, shown.InitConfiguration, "PRIVATE KEY", "the private key is a secret")
		signer, err := ssh.ParsePrivateKey([]byte(valueOf(t, real.InitConfiguration, "key")))
		require.NoError(t, err)
		authorized, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
		require.NoError(t, err)
		require.Equal(t, authorized.Marshal(), signer.PublicKey().Marshal(), "the two keys are a pair")
		require.Equal(t, cluster.ID.String(), valueOf(t, real.ClusterConfiguration, "id"))
		require.Equal(t, "commander.test", valueOf(t, real.ClusterConfiguration, "domain"))
		require.Equal(t, base64.StdEncoding.EncodeToString([]byte("a bundle")), valueOf(t, real.ClusterConfiguration, "ca"))
		require.NotContains(t, seen, public, "two clusters have one key")
		seen[public] = name

		// A change keeps both.
		after, _, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
			Revision: cluster.Revision, Name: name, TemplateVersionID: version.ID, Values: store.Values{"count": 3.0},
		})
		require.NoError(t, err)
		view, err = b.Cluster(t.Context(), b.Admin, after.ID)
		require.NoError(t, err)
		require.Equal(t, public, valueOf(t, view.Wanted.Rendering.Real.ClusterConfiguration, "public"))
	}
}

// valueOf reads a text out of flat YAML.
func valueOf(t *testing.T, text, key string) string {
	t.Helper()
	var document map[string]string
	require.NoError(t, yaml.Unmarshal([]byte(text), &document))
	require.Contains(t, document, key)
	return document[key]
}
