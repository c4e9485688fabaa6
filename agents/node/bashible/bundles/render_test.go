package bundles_test

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "commander/agents/node/api/v1"
	"commander/agents/node/bashible/bundles"
	"commander/agents/node/bashible/input"
	"commander/agents/node/bashible/render"
)

var update = flag.Bool("update", false, "write what is rendered now as what shall be rendered")

// groups are the kinds of nodes that differ.
func groups() map[string]input.Group {
	containerd := map[string]any{"type": "Containerd"}
	return map[string]input.Group{
		"plain": {"name": "plain", "nodeType": "CloudPermanent", "kubernetesVersion": "1.37", "cri": containerd},
		"full": {
			"name": "full", "nodeType": "CloudEphemeral", "kubernetesVersion": "1.37",
			"cri": map[string]any{"type": "ContainerdV2", "containerdV2": map[string]any{"maxConcurrentDownloads": 7}},
			"kubelet": map[string]any{
				"maxPods": 33, "rootDir": "/data/kubelet", "containerLogMaxSize": "10Mi", "containerLogMaxFiles": 2, "seccompDefault": true,
				"resourceReservation": map[string]any{"mode": "Static", "static": map[string]any{"cpu": "500m", "memory": "1Gi"}},
				"topologyManager":     map[string]any{"enabled": true, "scope": "Pod", "policy": "SingleNumaNode"},
				"memorySwap":          map[string]any{"swapBehavior": "LimitedSwap", "swappiness": 10, "limitedSwap": map[string]any{"size": "2G"}},
			},
			"fencing": map[string]any{"mode": "Watchdog", "watchdog": map[string]any{"timeout": "2m"}},
		},
		"own-cri": {
			"name": "own-cri", "nodeType": "Static", "kubernetesVersion": "1.37", "staticInstances": map[string]any{"count": 1},
			"cri":     map[string]any{"type": "NotManaged", "notManaged": map[string]any{"criSocketPath": "/run/own.sock"}},
			"kubelet": map[string]any{"resourceReservation": map[string]any{"mode": "Off"}},
		},
	}
}

// sample is the input of all kinds of nodes.
func sample() render.Input {
	digest := func(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }
	in := render.Input{
		Cluster: input.Cluster{
			Domain: "cluster.local", DNSAddress: "10.222.0.10", APIServerEndpoints: []string{"10.0.0.2:6443", "10.0.0.1:6443"},
			CA: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", KubernetesVersion: "1.37", PodSubnetNodeCIDRPrefix: "23",
			PackagesProxy:   input.PackagesProxy{Addresses: []string{"10.0.0.1:4219", "10.0.0.2:4219"}, Token: "packages"},
			BootstrapTokens: map[string]string{"plain": "abcdef.0123456789abcdef"},
			Proxy:           &input.Proxy{HTTP: "http://proxy:3128", No: []string{"10.0.0.0/8", ".local"}},
		},
		Registry: map[string]any{"address": "registry.local", "path": "/deckhouse", "scheme": "https", "ca": "CA\n", "auth": "dTpw"},
		Images: map[string]any{
			"common": map[string]any{"pause": digest("1")},
			"registrypackages": map[string]any{
				"bashible": digest("2"), "containerd": digest("3"), "containerd2": digest("4"), "runc": digest("5"), "kubernetesCni": digest("6"), "kubelet137": digest("7"),
			},
		},
		Users: []v1.NodeUser{{
			ObjectMeta: metav1.ObjectMeta{Name: "eve"},
			Spec:       v1.NodeUserSpec{UID: 1001, SSHPublicKeys: []string{"ssh-ed25519 A", "ssh-ed25519 B"}, PasswordHash: "$6$x", IsSudoer: true, ExtraGroups: []string{"adm"}, NodeGroups: []string{"*"}},
		}},
	}
	for _, g := range groups() {
		in.Cluster.NodeGroups = append(in.Cluster.NodeGroups, g)
	}
	return in
}

func rendered(t *testing.T) render.Everything {
	t.Helper()
	var log bytes.Buffer
	all, err := render.All(sample(), bundles.Files, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil || log.Len() > 0 {
		t.Fatalf("%v %s", err, log.String())
	}
	return all
}

// What is rendered is what was looked at: testdata has it, and the shell can read it.
func TestRenderedBundles(t *testing.T) {
	t.Parallel()
	for name, group := range rendered(t).Groups {
		texts := map[string]string{"bashible.sh": group.Script, "bootstrap.sh": group.Bootstrap, "prerequisites.sh": group.Prerequisites}
		for step, text := range group.Steps {
			texts[step] = text
		}
		for file, text := range texts {
			text = strings.ReplaceAll(text, group.Checksum, "CHECKSUM") // it changes with every word
			golden := filepath.Join("testdata", name, file)
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != text {
				t.Errorf("%s of %s is not as in %s (%v); look at it and run with -update", file, name, golden, err)
			}
			check := exec.Command("/bin/bash", "-n")
			check.Stdin = strings.NewReader(text)
			if said, err := check.CombinedOutput(); err != nil || len(said) > 0 {
				t.Errorf("%s of %s: %v: %s", file, name, err, said)
			}
		}
		if *update {
			continue
		}
		entries, err := os.ReadDir(filepath.Join("testdata", name))
		if err != nil || len(entries) != len(texts) {
			t.Errorf("testdata of %s has %d files, want %d", name, len(entries), len(texts))
		}
	}
}

// In a cloud kubelet leaves addresses and provider id to the cloud's controllers, which come to a Node
// by the taint that it then has. A machine that the cloud did not make has nobody to do that for it.
func TestKubeletInACloud(t *testing.T) {
	t.Parallel()
	in := sample()
	in.Cluster.CloudProvider = map[string]any{"type": "dvp"}
	all, err := render.All(in, bundles.Files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"plain": true, "full": true, "own-cri": false} {
		if got := strings.Contains(all.Groups[name].Steps["060_kubelet.sh"], "--cloud-provider=external"); got != want {
			t.Errorf("kubelet of group %s is for a cloud: %v, want %v", name, got, want)
		}
	}
}
