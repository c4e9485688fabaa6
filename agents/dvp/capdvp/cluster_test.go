package capdvp

import (
	"context"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	dc := &v1alpha1.DeckhouseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "c"}}
	if err := b.Create(t.Context(), dc); err != nil {
		t.Fatal(err)
	}
	cluster := b.cluster()
	b.patch(cluster, `{"spec":{"paused":true}}`)
	dc.OwnerReferences = owner(cluster)
	if err := b.Update(t.Context(), dc); err != nil {
		t.Fatal(err)
	}
	// Machines are looked at after clusters were; this one says that the pause was seen.
	dm := b.machine("m", "", nil)
	b.await(dm, "paused", func(dm *v1alpha1.DeckhouseMachine) bool {
		return condition(dm, v1alpha1.ConditionPaused).Status == metav1.ConditionTrue
	})
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(dc), dc); err != nil || len(dc.Finalizers) > 0 || dc.Status.Ready {
		t.Errorf("got %v, %+v, %v, want nothing while it is paused", dc.Finalizers, dc.Status, err)
	}
	b.patch(cluster, `{"spec":{"paused":null}}`)
	b.dvp.Eventually("the cluster is ready", func(ctx context.Context) bool {
		return b.Get(ctx, client.ObjectKeyFromObject(dc), dc) == nil && dc.Status.Ready && dc.Status.Initialization != nil && *dc.Status.Initialization.Provisioned
	})
	address, err := url.Parse(b.dvp.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	if dc.Finalizers[0] != v1alpha1.FinalizerCluster || dc.Spec.ControlPlaneEndpoint.Host != address.Hostname() || dc.Spec.ControlPlaneEndpoint.Port == 0 {
		t.Errorf("got finalizers %v, endpoint %v, want %s", dc.Finalizers, dc.Spec.ControlPlaneEndpoint, address)
	}

	ours, foreign := b.dvp.Disk("ours", emulatortest.Immediate, "1Gi"), b.dvp.Disk("foreign", emulatortest.Immediate, "1Gi")
	ours.Labels, foreign.Labels = map[string]string{cloud.LabelClusterUUID: uuid}, map[string]string{cloud.LabelClusterUUID: "other"}
	unmarked := b.dvp.Disk("unmarked", emulatortest.Immediate, "1Gi")
	for _, o := range []client.Object{ours, foreign, unmarked} {
		b.dvp.Make(o)
	}
	vm := b.dvp.Machine("vm", "ours")
	vm.Labels = ours.Labels
	b.dvp.Make(vm)
	b.delete(dc)
	b.awaitGone(dc)
	for _, o := range []client.Object{ours, vm} {
		if err := b.dvp.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			t.Errorf("%s: got %v, want it gone before the cluster", o.GetName(), err)
		}
	}
	b.there(foreign)
	b.there(unmarked)
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"https://10.0.0.1:6443": "10.0.0.1", "10.0.0.1:6443": "10.0.0.1", "https://[fd00::1]:6443": "fd00::1",
	} {
		if got, err := endpointOf(&rest.Config{Host: host}); err != nil || got.Host != want || got.Port != 6443 {
			t.Errorf("%s: got %v, %v", host, got, err)
		}
	}
	for _, host := range []string{"https://10.0.0.1", "10.0.0.1", "https://10.0.0.1:0", ""} {
		if got, err := endpointOf(&rest.Config{Host: host}); err == nil {
			t.Errorf("%s: got %v, want an error", host, got)
		}
	}
}

func TestNothingIsDeletedWithoutUUID(t *testing.T) {
	t.Parallel()
	if _, err := cloud.New(&rest.Config{Host: "https://127.0.0.1:1"}, "project", ""); err == nil {
		t.Error("a cluster without uuid was accepted")
	}
	if left, err := new(cloud.Cloud).DeleteEverything(t.Context()); err == nil || !strings.Contains(err.Error(), "no uuid") {
		t.Errorf("got %d, %v, want a refusal", left, err)
	}
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	all, err := infrastructure.Definitions()
	if err != nil || len(all) != 4 {
		t.Fatalf("got %d, %v, want 4", len(all), err)
	}
	for _, crd := range all {
		if crd.Name != crd.Spec.Names.Plural+".infrastructure.cluster.x-k8s.io" || crd.Labels["cluster.x-k8s.io/v1beta2"] != "v1alpha1" || crd.Labels["cluster.x-k8s.io/provider"] != "dvp" || crd.Spec.Scope != "Namespaced" {
			t.Errorf("%s: got labels %v", crd.Name, crd.Labels)
		}
	}
	b := newBed(t)
	for name, c := range map[string]struct {
		change func(*v1alpha1.DeckhouseMachine)
		words  string
	}{
		"0%":                     {func(dm *v1alpha1.DeckhouseMachine) { dm.Spec.CPU.CPUFraction = "0%" }, "cpuFraction"},
		"101%":                   {func(dm *v1alpha1.DeckhouseMachine) { dm.Spec.CPU.CPUFraction = "101%" }, "cpuFraction"},
		"50":                     {func(dm *v1alpha1.DeckhouseMachine) { dm.Spec.CPU.CPUFraction = "50" }, "cpuFraction"},
		"a disk without a class": {func(dm *v1alpha1.DeckhouseMachine) { dm.Spec.AdditionalDisks = []v1alpha1.AdditionalDisk{{}} }, "storageClass"},
		"a snapshot":             {func(dm *v1alpha1.DeckhouseMachine) { dm.Spec.BootDiskImageRef.Kind = "VirtualDiskSnapshot" }, "Unsupported value"},
		"policy Never":           {func(dm *v1alpha1.DeckhouseMachine) { dm.Spec.LiveMigrationPolicy = "Never" }, "Unsupported value"},
	} {
		dm := b.sketch("refused")
		dm.Namespace = b.namespace
		dm.Spec.RootDiskStorageClass, dm.Spec.BootDiskImageRef = "a", v1alpha1.ImageRef{Name: "a"}
		c.change(dm)
		if err := b.Create(t.Context(), dm); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v, want %q", name, err, c.words)
		}
	}
	for _, fraction := range []string{"100%", "5%"} {
		dm := b.sketch("accepted-" + strings.TrimSuffix(fraction, "%"))
		dm.Namespace, dm.Spec.CPU.CPUFraction = b.namespace, fraction
		dm.Spec.RootDiskStorageClass, dm.Spec.BootDiskImageRef = "a", v1alpha1.ImageRef{Name: "a"}
		if err := b.Create(t.Context(), dm); err != nil {
			t.Errorf("%s: got %v", fraction, err)
		}
		dm.Status.Initialization = &v1alpha1.Initialization{Provisioned: new(true)}
		if err := b.Status().Update(t.Context(), dm); err != nil {
			t.Fatal(err)
		}
		if err := b.Get(t.Context(), client.ObjectKeyFromObject(dm), dm); err != nil || dm.Status.Initialization == nil || !*dm.Status.Initialization.Provisioned || dm.Spec.BootDiskImageRef.Kind != "VirtualImage" || dm.Spec.Bootloader != "EFI" {
			t.Errorf("got %+v, %v, want what was written, and defaults", dm, err)
		}
	}
	template := &v1alpha1.DeckhouseMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "t"}}
	template.Spec.Template.Spec = b.sketch("").Spec.MachineResources
	template.Spec.Template.Spec.RootDiskStorageClass, template.Spec.Template.Spec.BootDiskImageRef = "a", v1alpha1.ImageRef{Name: "a"}
	if err := b.Create(t.Context(), template); err != nil {
		t.Error(err)
	}
}
