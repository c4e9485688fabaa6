package dhctl_test

import (
	"context"
	"strings"
	"testing"

	"commander/agents/dhctl"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/worldtest"
)

func TestValidation(t *testing.T) {
	t.Parallel()
	v := &dhctl.Validation{Engines: map[string]dhctl.Engine{"World": worldtest.World{Dir: t.TempDir()}}}
	strict := &pb.ValidateOptions{CommanderMode: true, StrictUnmarshal: true}
	foreign := strings.Replace(clusterDoc, "World", "AWS", 1)
	provider := func(cluster, doc string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			r, err := v.ValidateProviderSpecificClusterConfig(ctx, &pb.ValidateProviderSpecificClusterConfigRequest{Config: doc, ClusterConfig: cluster, Opts: strict})
			return r.GetErr(), err
		}
	}
	cases := []struct {
		name string
		ask  func(context.Context) (string, error)
		want string // in the error; empty for none
	}{
		{"a good cluster", func(ctx context.Context) (string, error) {
			r, err := v.ValidateClusterConfig(ctx, &pb.ValidateClusterConfigRequest{Config: clusterDoc, Opts: strict})
			if !strings.Contains(r.GetClusterConfig(), `"clusterDomain":"cluster.local"`) {
				t.Errorf("cluster: got %s, want its defaults filled in", r.GetClusterConfig())
			}
			return r.GetErr(), err
		}, ""},
		{"a cluster of another kind", func(ctx context.Context) (string, error) {
			r, err := v.ValidateClusterConfig(ctx, &pb.ValidateClusterConfigRequest{Config: foreign, Opts: strict})
			return r.GetErr(), err
		}, "AWS are not supported yet"},
		{"a static cluster", func(ctx context.Context) (string, error) {
			r, err := v.ValidateStaticClusterConfig(ctx, &pb.ValidateStaticClusterConfigRequest{})
			return r.GetErr(), err
		}, "Static are not supported yet"},
		{"a good provider document", provider(clusterDoc, machines("a")), ""},
		{"a bad provider document", provider(clusterDoc, "x: y"), "unknown field"},
		{"a provider document without a cluster", provider("", machines("a")), "ClusterConfiguration"},
		{"a provider document of another kind", provider(foreign, machines("a")), "not supported yet"},
		{"good resources", func(ctx context.Context) (string, error) {
			r, err := v.ValidateResources(ctx, &pb.ValidateResourcesRequest{Config: resourcesDoc, Opts: strict})
			return r.GetErr(), err
		}, ""},
		{"a resource without a name", func(ctx context.Context) (string, error) {
			r, err := v.ValidateResources(ctx, &pb.ValidateResourcesRequest{Config: "apiVersion: v1\nkind: Pod", Opts: strict})
			return r.GetErr(), err
		}, "metadata.name"},
		{"no init configuration", func(ctx context.Context) (string, error) {
			r, err := v.ValidateInitConfig(ctx, &pb.ValidateInitConfigRequest{Opts: strict})
			return r.GetErr(), err
		}, "InitConfiguration"},
		{"other networks", func(ctx context.Context) (string, error) {
			r, err := v.ValidateChanges(ctx, &pb.ValidateChangesRequest{OldConfig: clusterDoc, NewConfig: strings.Replace(clusterDoc, "10.111", "10.112", 1), Opts: strict})
			return r.GetErr(), err
		}, "podSubnetCIDR"},
		{"no host to connect to", func(ctx context.Context) (string, error) {
			r, err := v.ParseConnectionConfig(ctx, &pb.ParseConnectionConfigRequest{Opts: &pb.ValidateOptions{RequiredSshHost: true}})
			return r.GetErr(), err
		}, "at least one"},
		{"no connection needed", func(ctx context.Context) (string, error) {
			r, err := v.ParseConnectionConfig(ctx, &pb.ParseConnectionConfigRequest{Opts: strict})
			if r.GetConnectionConfig() != "{}" {
				t.Errorf("connection: got %q, want an empty one", r.GetConnectionConfig())
			}
			return r.GetErr(), err
		}, ""},
		{"a network to recommend", func(ctx context.Context) (string, error) {
			r, err := v.ConfigExtender(ctx, &pb.ConfigExtenderRequest{Config: clusterDoc, Kind: pb.ConfigExtensionKind_CONFIG_EXTENSION_KIND_CNI})
			return r.GetErr() + r.GetConfig(), err
		}, ""},
		{"an unknown extension", func(ctx context.Context) (string, error) {
			r, err := v.ConfigExtender(ctx, &pb.ConfigExtenderRequest{Config: clusterDoc})
			return r.GetErr(), err
		}, "not known"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, err := c.ask(t.Context())
			if err != nil || (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
				t.Errorf("got %q, %v; want %q", text, err, c.want)
			}
		})
	}
}
