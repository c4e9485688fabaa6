package charts

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dvprights "commander/agents/dvp/rights"
	"commander/internal/kubetest"
)

const (
	dvp          = "cloud-provider-dvp"
	dvpNamespace = "d8-cloud-provider-dvp"
)

// dvpValues are those that have to be set.
func dvpValues(more map[string]any) map[string]any {
	values := map[string]any{
		"registry": "registry.local/commander", "tag": "1.0.0", "clusterUUID": "11111111-2222-3333-4444-555555555555",
		"provider": map[string]any{"kubeconfigDataBase64": "YQ==", "namespace": "project"},
		"csi":      map[string]any{"provisioner": "p:1", "attacher": "a:1", "resizer": "r:1", "registrar": "n:1", "livenessProbe": "l:1"},
	}
	for key, value := range more {
		values[key] = value
	}
	return values
}

var dvpCases = map[string]map[string]any{
	"plain": nil,
	"full": {
		"highAvailability": true, "pullSecrets": []any{"pull"}, "clusterPrefix": "demo", "region": "r", "zones": []any{"a", "b"}, "sshPublicKey": "ssh-ed25519 AAAA",
		"additionalVMLabels": map[string]any{"team": "x"}, "excludedStorageClasses": []any{"slow.*", "local"}, "loadBalancersEnabled": false,
	},
}

func TestDVPGolden(t *testing.T) {
	t.Parallel()
	for name, values := range dvpCases {
		objects, err := render(t, dvp, dvpNamespace, dvpValues(values))
		if err != nil {
			t.Fatal(err)
		}
		file, got := filepath.Join("testdata", dvp, name+".yaml"), objects.text(t)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is rendered (%v); look at it with `go test ./charts -run TestDVPGolden -update && git diff charts`", file, err)
		}
	}
	for _, missing := range []string{"registry", "tag", "clusterUUID", "provider", "csi"} {
		values := dvpValues(nil)
		values[missing] = map[string]any{}
		if missing == "registry" || missing == "tag" || missing == "clusterUUID" {
			values[missing] = ""
		}
		if _, err := render(t, dvp, dvpNamespace, values); err == nil || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "is missing") {
			t.Errorf("without %s: got %v", missing, err)
		}
	}
	if _, err := render(t, dvp, "elsewhere", dvpValues(nil)); err == nil || !strings.Contains(err.Error(), "install it into") {
		t.Errorf("in another namespace: got %v", err)
	}
}

// The Secret by which node managers know the provider has all that they read.
func TestDVPRegistration(t *testing.T) {
	t.Parallel()
	objects, err := render(t, dvp, dvpNamespace, dvpValues(dvpCases["full"]))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, o := range objects {
		if o.GetKind() != "Secret" || !strings.HasPrefix(o.GetName(), "d8-node-manager-cloud-provider") {
			continue
		}
		found++
		data := o.Object["data"].(map[string]any)
		for key, want := range map[string]string{
			"type": "dvp", "region": "r", "zones": `["a","b"]`, "instanceClassKind": "DVPInstanceClass", "instanceClassAPIVersion": "v1alpha1", "machineClassKind": "",
			"capiClusterKind": "DeckhouseCluster", "capiClusterAPIVersion": "infrastructure.cluster.x-k8s.io/v1alpha1", "capiClusterName": "dvp",
			"capiMachineTemplateKind": "DeckhouseMachineTemplate", "capiMachineTemplateAPIVersion": "infrastructure.cluster.x-k8s.io/v1alpha1",
			"sshPublicKey": "ssh-ed25519 AAAA", "dvp": `{"additionalVMLabels":{"team":"x"}}`,
		} {
			text, _ := data[key].(string)
			if got, err := base64.StdEncoding.DecodeString(text); err != nil || string(got) != want || data[key] == nil {
				t.Errorf("%s: %s is %q, %v, want %q", o.GetName(), key, got, err, want)
			}
		}
		if o.GetLabels()["cloud-provider.deckhouse.io/name"] != "dvp" {
			t.Errorf("%s has labels %v", o.GetName(), o.GetLabels())
		}
	}
	if found != 2 {
		t.Errorf("got %d Secrets, want the one and its copy", found)
	}
}

// A real API server takes every object; with the roles of the chart each program has the rights that
// it asks for at its start, and says which one is missing when one is.
func TestDVPRights(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t)
	c, err := client.New(server.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dvpNamespace, "d8-cloud-instance-manager"} {
		if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
	for name, values := range dvpCases {
		objects, err := render(t, dvp, dvpNamespace, dvpValues(values))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if err := strict.Create(t.Context(), o.DeepCopy(), client.DryRunAll); err != nil {
				t.Errorf("%s: %s: %v", name, nameOf(o), err)
			}
		}
	}
	objects, err := render(t, dvp, dvpNamespace, dvpValues(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if slices.Contains([]string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}, o.GetKind()) {
			if err := c.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	for account, all := range map[string][]dvprights.Right{
		"capdvp-controller-manager": dvprights.Machines(true), "cloud-controller-manager": dvprights.Nodes(), "cloud-data-discoverer": dvprights.Discovery(),
	} {
		as := rest.CopyConfig(server.Config)
		as.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + dvpNamespace + ":" + account, Groups: []string{"system:serviceaccounts", "system:authenticated"}}
		settle(t, account+" has its rights", func() error { return dvprights.Check(t.Context(), as, "in the cluster", all) })
		role := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "d8:cloud-provider-dvp:" + account}}
		if err := c.Delete(t.Context(), role); err != nil {
			t.Fatal(err)
		}
		settle(t, account+" says what is missing", func() error {
			err := dvprights.Check(t.Context(), as, "in the cluster", all)
			if errors.Is(err, dvprights.ErrMissing) && strings.Contains(err.Error(), "a right is missing in the cluster: ") {
				return nil
			}
			return errors.New("nothing is missing yet")
		})
	}
}

// settle waits until an API server's view of roles, which lags behind by a moment, is as a test says.
func settle(t *testing.T, what string, so func() error) {
	t.Helper()
	var last error
	if wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		last = so()
		return last == nil, nil
	}) != nil {
		t.Fatalf("waited in vain: %s: %v", what, last)
	}
}
