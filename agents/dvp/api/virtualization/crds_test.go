package virtualization_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"commander/agents/dvp/api/virtualization"
	"commander/agents/dvp/api/virtualization/v1alpha2"
)

func TestDefinitionsNameTheKinds(t *testing.T) {
	t.Parallel()
	want := map[string]struct{ scope, short string }{
		"virtualmachines":                      {"Namespaced", "vm"},
		"virtualdisks":                         {"Namespaced", "vd"},
		"virtualmachineblockdeviceattachments": {"Namespaced", "vmbda"},
		"virtualmachineipaddresses":            {"Namespaced", "vmip"},
		"virtualmachineipaddressleases":        {"Cluster", "vmipl"},
		"virtualmachineclasses":                {"Cluster", "vmc"},
		"virtualmachineoperations":             {"Namespaced", "vmop"},
		"virtualimages":                        {"Namespaced", "vi"},
		"clustervirtualimages":                 {"Cluster", "cvi"},
	}
	all, err := virtualization.Definitions()
	if err != nil || len(all) != len(want) {
		t.Fatalf("got %d definitions, %v, want %d", len(all), err, len(want))
	}
	for _, crd := range all {
		w, ok := want[crd.Spec.Names.Plural]
		version := crd.Spec.Versions[0]
		if !ok || crd.Spec.Group != "virtualization.deckhouse.io" || string(crd.Spec.Scope) != w.scope || crd.Spec.Names.ShortNames[0] != w.short {
			t.Errorf("%s: got scope %s, short names %v", crd.Name, crd.Spec.Scope, crd.Spec.Names.ShortNames)
		}
		if version.Name != "v1alpha2" || !version.Storage || version.Subresources == (*apiextensionsv1.CustomResourceSubresources)(nil) {
			t.Errorf("%s: got version %s without what it needs", crd.Name, version.Name)
		}
	}
}

func TestDiskSerial(t *testing.T) {
	t.Parallel()
	// As md5sum prints it.
	if got, want := v1alpha2.DiskSerial("6c2b7d1e-5a0a-4f3a-9d6b-0c8f5a7e1b11"), "e2c0864ebd43b545ff7e21d1472a6a4d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
