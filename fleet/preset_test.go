package fleet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"commander/agents/dhctl/config"
	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

// TestThePresetForMachinesThatAreThere fills in all that its form asks for, and reads what comes
// out of it as an installer does.
func TestThePresetForMachinesThatAreThere(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	version := presetNamed(t, b, "Static")
	cluster := on(t, b, version, "metal", store.Values{
		"masters": []any{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, "internalNetwork": "10.0.0.0/24",
		"sshUser": "ops", "sshPort": 2222.0, "sudoPassword": "it's \"quoted\": # 'here'\\",
		"bastionHost": "jump.example.com", "bastionUser": "jump", "bastionPort": 22022.0,
		"httpProxy": "http://proxy.example.com:3128", "httpsProxy": "https://proxy.example.com:3129", "noProxy": []any{"10.0.0.0/8", ".example.com"},
	})
	view, err := b.Cluster(t.Context(), b.Admin, cluster.ID)
	require.NoError(t, err)
	require.Empty(t, view.Wanted.RenderErrors)
	require.Equal(t, "static", view.ClusterType)

	real := view.Wanted.Rendering.Real
	parsed, err := config.ParseCluster(real.ClusterConfiguration, true)
	require.NoError(t, err)
	require.Equal(t, "Static", parsed.Provider())
	require.Equal(t, &config.Proxy{HTTPProxy: "http://proxy.example.com:3128", HTTPSProxy: "https://proxy.example.com:3129", NoProxy: []string{"10.0.0.0/8", ".example.com"}}, parsed.Proxy)
	require.Contains(t, real.ProviderConfiguration, "10.0.0.0/24")

	connection, err := config.ParseConnection(real.SSHConfiguration, true, true)
	require.NoError(t, err)
	require.Equal(t, "it's \"quoted\": # 'here'\\", connection.SSHConfig.SudoPassword)
	require.Equal(t, "jump.example.com", connection.SSHConfig.SSHBastionHost)
	require.Equal(t, 22022, *connection.SSHConfig.SSHBastionPort)
	require.Equal(t, 2222, *connection.SSHConfig.SSHPort)
	var hosts []string
	for _, h := range connection.SSHHosts {
		hosts = append(hosts, h.Host)
	}
	require.Equal(t, []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, hosts, "in the order of the form")
	require.Contains(t, connection.SSHConfig.SSHAgentPrivateKeys[0].Key, "PRIVATE KEY")
	shown := view.Wanted.Rendering.Shown.SSHConfiguration
	require.NotContains(t, shown, "quoted")
	require.NotContains(t, shown, "PRIVATE KEY")

	// What a person leaves out is not there at all.
	least := on(t, b, version, "least", store.Values{"masters": []any{"10.0.1.1"}})
	view, err = b.Cluster(t.Context(), b.Admin, least.ID)
	require.NoError(t, err)
	require.Empty(t, view.Wanted.RenderErrors)
	real = view.Wanted.Rendering.Real
	require.Empty(t, real.ProviderConfiguration)
	require.NotContains(t, real.ClusterConfiguration, "proxy")
	require.NotContains(t, real.SSHConfiguration, "astion")
	require.NotContains(t, real.SSHConfiguration, "sudo")
}

// TestTheSectionForSSHHoldsItsKindsOnly has a document of another kind behind one that is right.
func TestTheSectionForSSHHoldsItsKindsOnly(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	version := familyOf(t, b, "mixed", fleet.TemplateVersionBody{
		ParamsText:           "- {key: count, type: number, title: Workers, default: 1}\n",
		ClusterConfiguration: "kind: ClusterConfiguration\n", SSHConfiguration: "kind: SSHConfig\n---\nkind: Secret\n",
	})[0]
	_, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: "refused", TemplateVersionID: version.ID, Install: true})
	require.ErrorContains(t, err, "ssh_configuration")
}

func presetNamed(t *testing.T, b *fleettest.Bench, name string) store.ClusterTemplateVersion {
	t.Helper()
	templates, err := b.Templates(t.Context(), b.Admin, b.Workspace.ID, false)
	require.NoError(t, err)
	for _, row := range templates {
		if row.ClusterTemplate.Name == name {
			return versionsOf(t, b, row.ClusterTemplate.ID)[0]
		}
	}
	t.Fatalf("no preset is named %s", name)
	return store.ClusterTemplateVersion{}
}
