package api_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"commander/agents/node/api/apitest"
)

// group parses the spec of a group as a user writes it, so that defaults and numbers are the
// server's.
func group(t *testing.T, name, version, spec string) *unstructured.Unstructured {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(spec), &object); err != nil {
		t.Fatalf("parse %q: %v", spec, err)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "deckhouse.io/" + version, "kind": "NodeGroup",
		"metadata": map[string]any{"name": name}, "spec": object,
	}}
}

func TestGroupValidation(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	for i, test := range []struct{ name, spec, denied string }{
		{"permanent", `{nodeType: CloudPermanent}`, ""},
		{"permanent with static instances", `{nodeType: CloudPermanent, staticInstances: {count: 1}}`, "staticInstances is only for"},
		{"static with static instances", `{nodeType: Static, staticInstances: {count: 1}}`, ""},
		{"static with cloud instances", `{nodeType: Static, cloudInstances: {minPerZone: 1}}`, "cloudInstances is not for"},
		{"ephemeral without cloud instances", `{nodeType: CloudEphemeral}`, "needs cloudInstances"},
		{"most less than least", `{nodeType: CloudEphemeral, cloudInstances: {minPerZone: 2, maxPerZone: 1}}`, "maxPerZone must not be less"},
		{"unknown type", `{nodeType: Cloud}`, "Unsupported value"},
		{"rolling update of permanent nodes", `{nodeType: CloudPermanent, disruptions: {approvalMode: RollingUpdate}}`, "RollingUpdate is only for"},
		{"rolling update of ephemeral nodes", `{nodeType: CloudEphemeral, cloudInstances: {}, disruptions: {approvalMode: RollingUpdate}}`, ""},
		{"manual with automatic block", `{nodeType: CloudPermanent, disruptions: {approvalMode: Manual, automatic: {drainBeforeApproval: true}}}`, "automatic needs"},
		{"automatic by default", `{nodeType: CloudPermanent, disruptions: {automatic: {windows: [{from: "22:00", to: "4:00", days: [Sun]}]}}}`, ""},
		{"window beyond the day", `{nodeType: CloudPermanent, disruptions: {automatic: {windows: [{from: "24:00", to: "25:00"}]}}}`, "should match"},
		{"one at once", `{nodeType: CloudPermanent, update: {maxConcurrent: 1}}`, ""},
		{"a quarter at once", `{nodeType: CloudPermanent, update: {maxConcurrent: "25%"}}`, ""},
		{"no share at once", `{nodeType: CloudPermanent, update: {maxConcurrent: "0%"}}`, "should match"},
		{"none at once as text", `{nodeType: CloudPermanent, update: {maxConcurrent: "0"}}`, "should match"},
		{"none at once", `{nodeType: CloudPermanent, update: {maxConcurrent: 0}}`, "must be at least 1"},
		{"fencing without mode", `{nodeType: CloudPermanent, fencing: {watchdog: {timeout: 60s}}}`, "fencing.mode: Required"},
		{"fencing with a strange unit", `{nodeType: CloudPermanent, fencing: {mode: Watchdog, watchdog: {timeout: 60x}}}`, "should match"},
		{"fencing without time", `{nodeType: CloudPermanent, fencing: {mode: Watchdog, watchdog: {timeout: 0s}}}`, "should match"},
		{"fencing that tells", `{nodeType: CloudPermanent, fencing: {mode: Notify}}`, ""},
		{"taint twice", `{nodeType: Static, nodeTemplate: {taints: [{key: dedicated, effect: NoSchedule, value: a}, {key: dedicated, effect: NoSchedule, value: b}]}}`, "Duplicate value"},
		{"taint with two effects", `{nodeType: Static, nodeTemplate: {taints: [{key: dedicated, effect: NoSchedule}, {key: dedicated, effect: NoExecute}]}}`, ""},
		{"topology without reservation", `{nodeType: Static, kubelet: {topologyManager: {policy: SingleNumaNode}, resourceReservation: {mode: "Off"}}}`, "needs resourceReservation"},
		{"topology without any reservation", `{nodeType: Static, kubelet: {topologyManager: {policy: SingleNumaNode}}}`, "needs resourceReservation"},
		{"topology without static cpu", `{nodeType: Static, kubelet: {topologyManager: {policy: Restricted}, resourceReservation: {mode: Static, static: {memory: 1Gi}}}}`, "needs its cpu"},
		{"topology with reservation", `{nodeType: Static, kubelet: {topologyManager: {policy: Restricted}, resourceReservation: {mode: Auto}}}`, ""},
		{"empty static reservation", `{nodeType: Static, kubelet: {resourceReservation: {mode: Static, static: {}}}}`, "at least 1"},
		{"swap without size", `{nodeType: Static, kubelet: {memorySwap: {swapBehavior: LimitedSwap}}}`, "needs limitedSwap"},
		{"docker", `{nodeType: Static, cri: {type: Docker}}`, "no longer supported"},
		{"settings of the other containerd", `{nodeType: Static, cri: {type: Containerd, containerdV2: {maxConcurrentDownloads: 2}}}`, "containerdV2 needs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := c.Create(t.Context(), group(t, fmt.Sprintf("v-%d", i), "v1", test.spec))
			switch {
			case test.denied == "" && err != nil:
				t.Errorf("got %v, want it accepted", err)
			case test.denied != "" && !(apierrors.IsInvalid(err) && strings.Contains(err.Error(), test.denied)):
				t.Errorf("got %v, want it denied because of %q", err, test.denied)
			}
		})
	}
}

func TestGroupNames(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	long := strings.Repeat("a", 42)
	for name, accepted := range map[string]bool{long: true, long + "a": false, "with.dot": false} {
		err := c.Create(t.Context(), group(t, name, "v1", `{nodeType: Static}`))
		if accepted != (err == nil) {
			t.Errorf("%s: got %v, want accepted %t", name, err, accepted)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	g := group(t, "defaults", "v1", `{nodeType: CloudPermanent, fencing: {mode: Watchdog}, kubelet: {}, disruptions: {automatic: {}}}`)
	if err := c.Create(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		value any
		path  []string
	}{
		{"60s", []string{"fencing", "watchdog", "timeout"}},
		{"/var/lib/kubelet", []string{"kubelet", "rootDir"}},
		{"50Mi", []string{"kubelet", "containerLogMaxSize"}},
		{int64(4), []string{"kubelet", "containerLogMaxFiles"}},
		{"Automatic", []string{"disruptions", "approvalMode"}},
		{true, []string{"disruptions", "automatic", "drainBeforeApproval"}},
	} {
		got, _, err := unstructured.NestedFieldNoCopy(g.Object, append([]string{"spec"}, want.path...)...)
		if err != nil || got != want.value {
			t.Errorf("%v is %v, %v, want %v", want.path, got, err, want.value)
		}
	}
}

func TestWhatCannotChange(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	for i, test := range []struct{ name, before, after, denied string }{
		{"type", `{nodeType: CloudPermanent}`, `{nodeType: CloudStatic}`, "nodeType cannot be changed"},
		{"operating system", `{nodeType: Static}`, `{nodeType: Static, osType: Immutable}`, "osType cannot be changed"},
		{"selector added", `{nodeType: Static}`, `{nodeType: Static, staticInstances: {labelSelector: {matchLabels: {a: b}}}}`, ""},
		{
			"selector changed", `{nodeType: Static, staticInstances: {labelSelector: {matchLabels: {a: b}}}}`,
			`{nodeType: Static, staticInstances: {labelSelector: {matchLabels: {a: c}}}}`, "labelSelector can be added",
		},
		{
			"selector removed", `{nodeType: Static, staticInstances: {labelSelector: {matchLabels: {a: b}}}}`,
			`{nodeType: Static}`, "labelSelector can be added",
		},
		{"labels", `{nodeType: Static}`, `{nodeType: Static, nodeTemplate: {labels: {a: b}}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before := group(t, fmt.Sprintf("c-%d", i), "v1", test.before)
			if err := c.Create(t.Context(), before); err != nil {
				t.Fatal(err)
			}
			after := before.DeepCopy()
			after.Object["spec"] = group(t, "", "v1", test.after).Object["spec"]
			err := c.Update(t.Context(), after)
			if (test.denied == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.denied) {
				t.Errorf("got %v, want denied %q", err, test.denied)
			}
		})
	}
}

func TestUsersAndConfigurations(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	for i, test := range []struct{ kind, spec, denied string }{
		{"NodeUser", `{uid: 1100, sshPublicKey: ssh-ed25519 AAAA, passwordHash: x}`, ""},
		{"NodeUser", `{uid: 1000, sshPublicKey: ssh-ed25519 AAAA, passwordHash: x}`, "1001"},
		{"NodeUser", `{uid: 1100, passwordHash: x}`, "exactly one of"},
		{"NodeUser", `{uid: 1100, passwordHash: x, sshPublicKey: a, sshPublicKeys: [b]}`, "exactly one of"},
		{"NodeGroupConfiguration", `{content: "true", nodeGroups: ["*"], bundles: ["*"]}`, ""},
		{"NodeGroupConfiguration", `{content: "true", nodeGroups: ["*"]}`, "bundles: Required"},
	} {
		version := map[string]string{"NodeUser": "v1", "NodeGroupConfiguration": "v1alpha1"}[test.kind]
		object := group(t, fmt.Sprintf("u-%d", i), version, test.spec)
		object.SetKind(test.kind)
		err := c.Create(t.Context(), object)
		if (test.denied == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.denied) {
			t.Errorf("%s %s: got %v, want denied %q", test.kind, test.spec, err, test.denied)
		}
	}
	var user unstructured.Unstructured
	user.SetAPIVersion("deckhouse.io/v1")
	user.SetKind("NodeUser")
	if err := c.Get(t.Context(), client.ObjectKey{Name: "u-0"}, &user); err != nil {
		t.Fatal(err)
	}
	groups, _, err := unstructured.NestedStringSlice(user.Object, "spec", "nodeGroups")
	if err != nil || len(groups) != 1 || groups[0] != "*" {
		t.Errorf("got groups %v, %v, want all", groups, err)
	}
}
