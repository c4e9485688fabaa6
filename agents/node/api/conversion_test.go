package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/api/v1alpha2"
)

func onlyMaster(name string) bool { return name == "master" }

func TestOldTypesOfNodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		old  v1alpha2.NodeType
		want v1.NodeType
	}{
		{"worker", v1alpha2.Cloud, v1.CloudEphemeral},
		{"worker", v1alpha2.Static, v1.Static},
		{"worker", v1alpha2.Hybrid, v1.CloudStatic},
		{"master", v1alpha2.Hybrid, v1.CloudPermanent},
	} {
		if got := test.old.ToV1(test.name, onlyMaster); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.old, test.name, got, test.want)
		}
		if back := v1alpha2.NodeTypeOf(test.want); back != test.old {
			t.Errorf("%s: got back %s, want %s", test.want, back, test.old)
		}
	}
}

// A client that knows only an old version must not lose what it cannot know.
func TestNothingIsLostThroughOldVersions(t *testing.T) {
	t.Parallel()
	want := &v1.NodeGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "master", Labels: map[string]string{"a": "b"}},
		Spec: v1.NodeGroupSpec{NodeType: v1.CloudPermanent, NodeGroupSettings: v1.NodeGroupSettings{
			Fencing: &v1.Fencing{Mode: v1.FencingWatchdog, Watchdog: &v1.FencingWatchdogSettings{Timeout: "30s"}},
			Kubelet: &v1.Kubelet{MemorySwap: &v1.MemorySwap{SwapBehavior: "LimitedSwap", LimitedSwap: &v1.LimitedSwap{Size: "2G"}}},
		}},
		Status: v1.NodeGroupStatus{Nodes: 3, Ready: 2},
	}
	first, second := new(v1alpha1.NodeGroup), new(v1alpha2.NodeGroup)
	first.FromV1(want)
	second.FromV1(want)
	for version, convert := range map[string]func(*v1.NodeGroup, func(string) bool){"v1alpha1": first.ToV1, "v1alpha2": second.ToV1} {
		got := new(v1.NodeGroup)
		convert(got, onlyMaster)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("through %s (-want +got):\n%s", version, diff)
		}
	}
}

func TestDockerMovesIntoCRI(t *testing.T) {
	t.Parallel()
	three := int32(3)
	old := &v1alpha1.NodeGroup{Spec: v1alpha1.NodeGroupSpec{NodeType: v1alpha2.Static, Docker: &v1.Docker{MaxConcurrentDownloads: &three}}}
	got := new(v1.NodeGroup)
	old.ToV1(got, onlyMaster)
	if got.Spec.CRI == nil || got.Spec.CRI.Docker == nil || *got.Spec.CRI.Docker.MaxConcurrentDownloads != three {
		t.Errorf("got cri %+v, want docker inside", got.Spec.CRI)
	}
}
