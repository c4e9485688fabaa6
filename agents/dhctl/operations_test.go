package dhctl_test

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/agents/dhctl"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/worldtest"
)

// made returns a world with a whole cluster, and its state.
func made(t *testing.T, names ...string) (worldtest.World, pb.DHCTLClient, string) {
	t.Helper()
	world := worldtest.World{Dir: t.TempDir()}
	client := server(t, world, 0)
	_, r := begin(t, client, start(machines(names...))).through()
	if r.GetErr() != "" {
		t.Fatal(r.GetErr())
	}
	return world, client, r.GetState()
}

func cluster(t *testing.T, w worldtest.World) *worldtest.Cluster {
	t.Helper()
	c, err := w.Cluster(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBootstrapMakesACluster(t *testing.T) {
	t.Parallel()
	world := worldtest.World{Dir: t.TempDir()}
	walk, r := begin(t, server(t, world, 0), start(machines("a", "b"))).through()
	if r.GetErr() != "" {
		t.Fatal(r.GetErr())
	}
	if want := []string{"BaseInfra", "InstallDeckhouse", "InstallAdditionalMastersAndStaticNodes", "CreateResources", "Finalization", ""}; !slices.Equal(walk, want) {
		t.Errorf("phases: got %v, want %v", walk, want)
	}
	c := cluster(t, world)
	if len(c.Machines) != 2 || c.Owner != id || c.Agent != "https://localhost:8443 secret" || !slices.Equal(c.Objects, []string{"Namespace/shop"}) {
		t.Errorf("cluster: got %+v, want two machines, the owner, the agent and the namespace alone", c)
	}
}

func TestBootstrapRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*pb.BootstrapStart)
		want   string
	}{
		{"no commander mode", func(s *pb.BootstrapStart) { s.Options.CommanderMode = false }, "commander mode"},
		{"no options", func(s *pb.BootstrapStart) { s.Options = nil }, "commander mode"},
		{"an id that is a path", func(s *pb.BootstrapStart) { s.Options.CommanderUuid = "../../etc" }, "not a UUID"},
		{"another kind", func(s *pb.BootstrapStart) { s.ClusterConfig = strings.Replace(clusterDoc, "World", "AWS", 1) }, "AWS are not supported yet (supported: World)"},
		{"static", func(s *pb.BootstrapStart) {
			s.ClusterConfig = strings.Replace(clusterDoc, "clusterType: Cloud\ncloud: {provider: World, prefix: blue}", "clusterType: Static", 1)
		}, "Static are not supported yet"},
		{"a bad provider document", func(s *pb.BootstrapStart) { s.ProviderSpecificClusterConfig = "x: y" }, "unknown field"},
		{"a bad resource", func(s *pb.BootstrapStart) { s.Resources = "kind: Namespace" }, "apiVersion"},
		{"a script", func(s *pb.BootstrapStart) { s.PostBootstrapScript = "reboot" }, "not supported yet"},
		{"a broken state", func(s *pb.BootstrapStart) { s.State = "{" }, "decode state"},
		{"another cluster's state", func(s *pb.BootstrapStart) { s.State = `{"uuid":"b3RoZXI="}` }, "belongs to cluster other"},
		{"a bad duration", func(s *pb.BootstrapStart) { s.Options.ResourcesTimeout = "soon" }, "resources_timeout"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			world := worldtest.World{Dir: t.TempDir()}
			s := start(machines("a"))
			c.change(s)
			_, r := begin(t, server(t, world, 0), s).through()
			if !strings.Contains(r.GetErr(), c.want) {
				t.Errorf("error: got %q, want %q in it", r.GetErr(), c.want)
			}
			if r.GetState() != s.GetState() && c.name != "a bad provider document" && c.name != "a bad resource" && c.name != "a script" {
				t.Errorf("state: got %q, want it as it was", r.GetState())
			}
			if calls := world.Calls(); len(calls) > 0 {
				t.Errorf("calls: got %v, want none", calls)
			}
		})
	}
}

func TestBootstrapGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*pb.BootstrapStart)
		want   []string
	}{
		{"with the same documents", func(*pb.BootstrapStart) {}, []string{"EnsureAgent", "Apply", "Observe"}},
		{"with other resources", func(s *pb.BootstrapStart) { s.Resources = strings.Replace(resourcesDoc, "secret", "fresh", 1) }, []string{"EnsureAgent", "Apply", "Observe"}},
		{
			"with other machines", func(s *pb.BootstrapStart) { s.ProviderSpecificClusterConfig = machines("b") },
			[]string{"EnsureBase", "Ready", "Adopt", "Ready", "Observe", "EnsureMachines", "EnsureAgent", "Apply", "Observe"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			world := worldtest.World{Dir: t.TempDir()}
			fault(t, world, "EnsureAgent", "no space")
			client := server(t, world, 0)
			_, failed := begin(t, client, start(machines("a"))).through()
			if !strings.Contains(failed.GetErr(), "CreateResources: no space") {
				t.Fatalf("error: got %q, want no space in CreateResources", failed.GetErr())
			}
			fault(t, world, "EnsureAgent", "")
			before := len(world.Calls())
			again := start(machines("a"))
			again.State = failed.GetState()
			c.change(again)
			if _, r := begin(t, client, again).through(); r.GetErr() != "" {
				t.Fatal(r.GetErr())
			}
			if diff := cmp.Diff(c.want, world.Calls()[before:]); diff != "" {
				t.Errorf("calls of the second attempt (-want +got):\n%s", diff)
			}
		})
	}
}

// checked runs a Check.
func checked(t *testing.T, c pb.DHCTLClient, cluster, provider, uuid string) (dhctl.CheckResult, string) {
	t.Helper()
	s, err := c.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = s.Send(&pb.CheckRequest{Message: &pb.CheckRequest_Start{Start: &pb.CheckStart{
		ClusterConfig: cluster, ProviderSpecificClusterConfig: provider, Options: &pb.CheckStartOptions{CommanderMode: true, CommanderUuid: uuid},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if m.GetResult() == nil {
			continue
		}
		if err := s.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		var r dhctl.CheckResult
		if m.GetResult().GetErr() == "" {
			if err := json.Unmarshal([]byte(m.GetResult().GetResult()), &r); err != nil {
				t.Fatal(err)
			}
		}
		return r, m.GetResult().GetErr()
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	upgraded := strings.Replace(clusterDoc, "1.37", "1.38", 1)
	cases := []struct {
		name              string
		spoil             func(*worldtest.Cluster)
		cluster, provider string
		status, conf      string
		node              string // status of machine b, if it is listed
		destructive       bool
	}{
		{"nothing changed", nil, clusterDoc, machines("a", "b"), dhctl.InSync, dhctl.InSync, "ok", false},
		{"written differently", nil, "# the same\n" + clusterDoc, machines("b", "a"), dhctl.InSync, dhctl.InSync, "ok", false},
		{"a machine more", nil, clusterDoc, machines("a", "b", "c"), dhctl.OutOfSync, dhctl.OutOfSync, "ok", false},
		{"a machine less", nil, clusterDoc, machines("a"), dhctl.DestructiveOutOfSync, dhctl.OutOfSync, "abandoned", true},
		{"another class", nil, clusterDoc, machines("a", "b=er"), dhctl.DestructiveOutOfSync, dhctl.OutOfSync, "destructively_changed", true},
		{"other settings", func(c *worldtest.Cluster) {
			m := c.Machines["b"]
			m.Settings = "labels"
			c.Machines["b"] = m
		}, clusterDoc, machines("a", "b"), dhctl.OutOfSync, dhctl.InSync, "changed", false},
		{"a machine vanished", func(c *worldtest.Cluster) { delete(c.Machines, "b") }, clusterDoc, machines("a", "b"), dhctl.OutOfSync, dhctl.InSync, "absent", false},
		{"an upgrade", nil, upgraded, machines("a", "b"), dhctl.OutOfSync, dhctl.OutOfSync, "ok", false},
		{"a downgrade", func(c *worldtest.Cluster) { c.Version = "1.38" }, clusterDoc, machines("a", "b"), dhctl.DestructiveOutOfSync, dhctl.InSync, "ok", true},
		{"networks differ", func(c *worldtest.Cluster) { c.Fixed = "x" }, clusterDoc, machines("a", "b"), dhctl.DestructiveOutOfSync, dhctl.InSync, "ok", true},
		{"no owner", func(c *worldtest.Cluster) { c.Owner = "" }, clusterDoc, machines("a", "b"), dhctl.OutOfSync, dhctl.OutOfSync, "ok", false},
		{"documents edited inside", func(c *worldtest.Cluster) { c.Docs[0] = upgraded }, clusterDoc, machines("a", "b"), dhctl.OutOfSync, dhctl.OutOfSync, "ok", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			world, client, _ := made(t, "a", "b")
			if c.spoil != nil {
				now := cluster(t, world)
				c.spoil(now)
				if err := world.Put(id, now); err != nil {
					t.Fatal(err)
				}
			}
			got, text := checked(t, client, c.cluster, c.provider, id)
			if text != "" {
				t.Fatal(text)
			}
			node := ""
			for _, n := range got.Details.Nodes {
				if n.Name == "b" {
					node = n.Status
				}
			}
			if got.Status != c.status || got.Details.ConfigurationStatus != c.conf || node != c.node || (got.DestructiveChangeID != "") != c.destructive {
				t.Errorf("got %+v, want %s, configuration %s, node %s, destructive %v", got, c.status, c.conf, c.node, c.destructive)
			}
		})
	}
}

func TestCheckOfAnothersCluster(t *testing.T) {
	t.Parallel()
	world, client, _ := made(t, "a")
	c := cluster(t, world)
	c.Owner = "another"
	if err := world.Put(id, c); err != nil {
		t.Fatal(err)
	}
	if _, text := checked(t, client, clusterDoc, machines("a"), id); !strings.Contains(text, "managed by another Commander") {
		t.Errorf("error: got %q, want another Commander", text)
	}
}

func TestCheckOfNothing(t *testing.T) {
	t.Parallel()
	got, text := checked(t, server(t, worldtest.World{Dir: t.TempDir()}, 0), clusterDoc, machines("a"), id)
	if text != "" || got.Status != dhctl.OutOfSync || got.Details.Cluster.Status != "absent" {
		t.Errorf("got %+v, %q; want an absent cluster out of sync", got, text)
	}
}
