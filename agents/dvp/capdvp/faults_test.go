package capdvp

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
)

// Whatever fails on the way, in the end there is one machine for each, and then nothing.
func TestMachinesUnderFaults(t *testing.T) {
	t.Parallel()
	b := newBedThrough(t, func(access *rest.Config) *rest.Config { return emulatortest.Faulty(access, 1, 0.2) })
	b.cluster()
	b.script("script", "value")
	var all []*v1alpha1.DeckhouseMachine
	for i := range 6 {
		all = append(all, b.machine(fmt.Sprintf("m%d", i), "script", nil))
	}
	for _, dm := range all {
		b.awaitReason(dm, v1alpha1.VMRunning, "")
	}
	count := func(what string, list client.ObjectList, want int) {
		t.Helper()
		if err := b.dvp.List(t.Context(), list, client.InNamespace(b.dvp.Namespace), client.MatchingLabels{cloud.LabelClusterUUID: uuid}); err != nil {
			t.Fatal(err)
		}
		if got := meta.LenList(list); got != want {
			t.Errorf("got %d %s, want %d", got, what, want)
		}
	}
	count("machines", &v1alpha2.VirtualMachineList{}, len(all))
	count("disks", &v1alpha2.VirtualDiskList{}, len(all))
	count("secrets", &corev1.SecretList{}, len(all))
	for _, dm := range all {
		if dm.Spec.ProviderID != "dvp://"+dm.Name {
			t.Errorf("got id %s of %s", dm.Spec.ProviderID, dm.Name)
		}
		b.delete(dm)
	}
	for _, dm := range all {
		b.awaitGone(dm)
	}
	count("machines", &v1alpha2.VirtualMachineList{}, 0)
	count("disks", &v1alpha2.VirtualDiskList{}, 0)
	count("secrets", &corev1.SecretList{}, 0)
}
