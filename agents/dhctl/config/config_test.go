package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/agents/dhctl/config"
)

const good = `
apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
cloud: {provider: Lab, prefix: blue}
podSubnetCIDR: 10.111.0.0/16
serviceSubnetCIDR: 10.222.0.0/16
kubernetesVersion: "1.37"
`

// complain checks that an error says all that is wanted; no words mean no error.
func complain(t *testing.T, err error, words ...string) {
	t.Helper()
	if len(words) == 0 {
		if err != nil {
			t.Errorf("error: got %v, want none", err)
		}
		return
	}
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error: got %v, want %q in it", err, word)
		}
	}
}

func swap(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(good) }

func TestParseCluster(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		want       []string
	}{
		{"good", good, nil},
		{"other documents beside it", good + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n", nil},
		{"nothing", "", []string{"exactly one ClusterConfiguration"}},
		{"twice", good + "---" + good, []string{"there are 2"}},
		{"not YAML", ":\n-", []string{"document 1"}},
		{"no kind", "a: b", []string{"apiVersion and kind"}},
		{"unknown field", good + "colour: red\n", []string{"colour"}},
		{"wrong type", swap("Cloud\n", "Moon\n"), []string{"clusterType", "Moon"}},
		{"static with a cloud", swap("clusterType: Cloud", "clusterType: Static"), []string{"cloud: not allowed"}},
		{"several at once", swap("blue", "Blue!", `"1.37"`, `"latest"`), []string{"cloud.prefix", "kubernetesVersion"}},
		{"not a subnet", swap("10.111.0.0/16", "10.111"), []string{"podSubnetCIDR"}},
		{"host bits", swap("10.111.0.0/16", "10.111.0.7/16"), []string{"did you mean 10.111.0.0/16"}},
		{"subnets overlap", swap("10.222.0.0/16", "10.111.8.0/24"), []string{"overlaps"}},
		{"node prefix too wide", good + "podSubnetNodeCIDRPrefix: \"8\"\n", []string{"podSubnetNodeCIDRPrefix"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.ParseCluster(c.text, true)
			complain(t, err, c.want...)
		})
	}
	cluster, err := config.ParseCluster(good+"colour: red\n", false)
	if err != nil || cluster.ClusterDomain != "cluster.local" || cluster.Provider() != "Lab" {
		t.Errorf("without strictness: got %+v, %v; want defaults and provider Lab", cluster, err)
	}
}

func TestValidateChanges(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, phase, after string
		want               []string
	}{
		{"nothing", "", good, nil},
		{"upgrade by one", "", swap("1.37", "1.38"), nil},
		{"upgrade by two", "", swap("1.37", "1.39"), []string{"one minor version at a time"}},
		{"downgrade", "", swap("1.37", "1.36"), []string{"cannot be downgraded"}},
		{"subnets", "Finalization", swap("10.111.", "10.112.", "10.222.", "10.223."), []string{"podSubnetCIDR", "serviceSubnetCIDR"}},
		{"prefix and provider", "", swap("blue", "red", "Lab", "Moon"), []string{"cloud.prefix", "cloud.provider"}},
		{"anything before it is built", "BaseInfra", swap("10.111.", "10.112.", "1.37", "1.36"), nil},
		{"but never nonsense", "BaseInfra", swap("10.111.0.0/16", "x"), []string{"podSubnetCIDR"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			complain(t, config.ValidateChanges(c.phase, good, c.after, true), c.want...)
		})
	}
}

func TestParseResources(t *testing.T) {
	t.Parallel()
	agent := "apiVersion: deckhouse.io/v1alpha1\nkind: ModuleConfig\nmetadata: {name: commander-agent}\nspec:\n  enabled: true\n  settings: {commanderUrl: \"https://localhost:1\", token: t}\n"
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"
	r, err := config.ParseResources(namespace+"---\n"+agent+"---\n# nothing\n", true)
	complain(t, err)
	if len(r.Objects) != 1 || r.Agent == nil || r.Agent.Token != "t" {
		t.Errorf("resources: got %+v, want one object and an agent", r)
	}
	off, err := config.ParseResources(strings.Replace(agent, "true", "false", 1), true)
	complain(t, err)
	if off.Agent != nil {
		t.Errorf("disabled agent: got %+v, want none", off.Agent)
	}
	_, err = config.ParseResources(strings.Replace(agent, "https://", "ftp://", 1)+"---\napiVersion: v1\nkind: Namespace\n", true)
	complain(t, err, "commanderUrl", "Namespace: metadata.name")
	_, err = config.ParseResources(strings.Replace(agent, "token: t", "tocken: t", 1), true)
	complain(t, err, "tocken")
}

func TestValidateInit(t *testing.T) {
	t.Parallel()
	text := "apiVersion: deckhouse.io/v1\nkind: InitConfiguration\ndeckhouse: {registryScheme: HTTPS}\n"
	complain(t, config.ValidateInit(text, true))
	complain(t, config.ValidateInit(strings.Replace(text, "HTTPS", "FTP", 1), true), "registryScheme")
	complain(t, config.ValidateInit("", true), "exactly one InitConfiguration")
	complain(t, config.ValidateInit(text+"x: y\n", true), `"x"`)
}

func TestParseConnection(t *testing.T) {
	t.Parallel()
	ssh := "apiVersion: dhctl.deckhouse.io/v1\nkind: SSHConfig\nsshUser: root\nsshPort: 22\n"
	host := "---\napiVersion: dhctl.deckhouse.io/v1\nkind: SSHHost\nhost: 10.0.0.1\n"
	parse := func(text string, needHost bool) error {
		_, err := config.ParseConnection(text, true, needHost)
		return err
	}
	complain(t, parse("", false))
	complain(t, parse(ssh+host, true))
	complain(t, parse(ssh, true), "at least one")
	complain(t, parse(host, true), "SSHConfig: required")
	complain(t, parse(strings.Replace(ssh, "22", "70000", 1), false), "70000 is not a port")
	complain(t, parse(strings.Replace(ssh, "sshUser: root", "sshUser: ''", 1), false), "sshUser")
	complain(t, parse(good, false), "not a document about connections")
	c, err := config.ParseConnection(ssh+host, true, true)
	complain(t, err)
	if len(c.SSHHosts) != 1 || c.SSHHosts[0].Host != "10.0.0.1" || c.SSHConfig.SSHUser != "root" {
		t.Errorf("connection: got %+v, want the host and the user", c)
	}
}

// TestConnectionSettings has everything that an administrator may need to say about a connection.
func TestConnectionSettings(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: dhctl.deckhouse.io/v1
kind: SSHConfig
sshUser: ubuntu
sshPort: 2222
sshExtraArgs: -o ServerAliveInterval=5
sshAgentPrivateKeys:
- key: first key
- {key: second key, passphrase: opens it}
sshBastionHost: bastion.example.com
sshBastionPort: 22022
sshBastionUser: jump
sudoPassword: correct horse
---
apiVersion: dhctl.deckhouse.io/v1
kind: SSHHost
host: 10.0.0.1
---
apiVersion: dhctl.deckhouse.io/v1
kind: SSHHost
host: 10.0.0.2
`
	got, err := config.ParseConnection(text, true, true)
	if err != nil {
		t.Fatal(err)
	}
	port, bastion := 2222, 22022
	const version = "dhctl.deckhouse.io/v1"
	want := config.Connection{
		SSHConfig: &config.SSHConfig{
			APIVersion: version, Kind: "SSHConfig", SSHUser: "ubuntu", SSHPort: &port, SSHExtraArgs: "-o ServerAliveInterval=5",
			SSHAgentPrivateKeys: []config.SSHPrivateKey{{Key: "first key"}, {Key: "second key", Passphrase: "opens it"}},
			SSHBastionHost:      "bastion.example.com", SSHBastionPort: &bastion, SSHBastionUser: "jump", SudoPassword: "correct horse",
		},
		SSHHosts: []config.SSHHost{{APIVersion: version, Kind: "SSHHost", Host: "10.0.0.1"}, {APIVersion: version, Kind: "SSHHost", Host: "10.0.0.2"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
	for broken, problem := range map[string]string{
		strings.Replace(text, "22022", "0", 1):            "sshBastionPort: 0 is not a port",
		strings.Replace(text, "key: second key, ", "", 1): "sshAgentPrivateKeys[1].key",
		strings.Replace(text, "sudoPassword", "sudo", 1):  "sudo",
	} {
		_, err := config.ParseConnection(broken, true, true)
		complain(t, err, problem)
	}
}
