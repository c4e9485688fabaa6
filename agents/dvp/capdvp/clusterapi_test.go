package capdvp

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/nodegroups"
	"commander/internal/clock"
	"commander/internal/kubetest"
)

// machinesOf lists the Machines of Cluster API.
func (b *bed) machinesOf() []unstructured.Unstructured {
	b.t.Helper()
	machines := new(unstructured.UnstructuredList)
	machines.SetGroupVersionKind(capiKind("MachineList"))
	if err := b.List(b.t.Context(), machines, client.InNamespace(b.namespace)); err != nil {
		b.t.Fatal(err)
	}
	return machines.Items
}

// running says whether a Machine runs and is a Node.
func running(machine unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(machine.Object, "status", "nodeRef", "name")
	phase, _, _ := unstructured.NestedString(machine.Object, "status", "phase")
	return phase == "Running" && name != "" && machine.GetDeletionTimestamp() == nil
}

// awaitMachines waits for Machines that are so. The guests, which the emulator has none of, are
// played here: a machine that runs registers its Node.
func (b *bed) awaitMachines(what string, so func([]unstructured.Unstructured) bool) []unstructured.Unstructured {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		machines := b.machinesOf()
		if so(machines) {
			return machines
		}
		b.guests(ctx)
		select {
		case <-ctx.Done():
			for _, machine := range machines {
				status, err := json.Marshal(machine.Object["status"])
				b.t.Logf("%s deleted %v: %s %v", machine.GetName(), machine.GetDeletionTimestamp(), status, err)
			}
			b.t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// healthy is what a kubelet reports.
func healthy() (all []corev1.NodeCondition) {
	for kind, status := range map[corev1.NodeConditionType]corev1.ConditionStatus{
		corev1.NodeReady: corev1.ConditionTrue, corev1.NodeMemoryPressure: corev1.ConditionFalse, corev1.NodeDiskPressure: corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse,
	} {
		all = append(all, corev1.NodeCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now()})
	}
	return all
}

func (b *bed) guests(ctx context.Context) {
	b.t.Helper()
	var all v1alpha2.VirtualMachineList
	if err := b.dvp.List(ctx, &all, client.InNamespace(b.dvp.Namespace)); err != nil {
		return // whoever waits tells what there was
	}
	for i := range all.Items {
		vm := &all.Items[i]
		if vm.Status.Phase != v1alpha2.MachineRunning || !vm.DeletionTimestamp.IsZero() {
			continue
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: vm.Name}, Spec: corev1.NodeSpec{ProviderID: "dvp://" + vm.Name}}
		if err := b.Create(ctx, node); apierrors.IsAlreadyExists(err) {
			continue
		} else if err != nil {
			b.t.Fatal(err)
		}
		node.Status.Conditions = healthy()
		if err := b.Status().Update(ctx, node); err != nil {
			b.t.Fatal(err)
		}
	}
}

// runOurs starts our controllers.
func (b *bed) runOurs(server *kubetest.Server, scheme *runtime.Scheme) {
	b.t.Helper()
	access, err := cloud.New(b.dvp.Access, b.dvp.Namespace, uuid)
	if err != nil {
		b.t.Fatal(err)
	}
	manager, err := ctrl.NewManager(server.Config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	p := &Provider{
		Client: manager.GetClient(), Config: server.Config, Cloud: access, Clock: clock.System{}, Events: manager.GetEventRecorder("capdvp"),
		Poll: 200 * time.Millisecond, Patience: time.Hour, Workers: 4,
	}
	if err := p.Setup(manager); err != nil {
		b.t.Fatal(err)
	}
	groups := &nodegroups.Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: manager.GetEventRecorder("nodegroups"), ClusterUUID: uuid, Prefix: "demo"}
	if err := groups.Setup(manager); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	b.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("stop controllers: %v", err)
		}
	})
}

// apply makes all objects of a manifest.
func (b *bed) apply(manifest string) {
	b.t.Helper()
	for _, text := range bytes.Split([]byte(manifest), []byte("\n---\n")) {
		o := new(unstructured.Unstructured)
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			b.t.Fatal(err)
		}
		if o.GetNamespace() == "" && o.GroupVersionKind().Group != "deckhouse.io" { // whose kinds belong to the whole cluster
			o.SetNamespace(b.namespace)
		}
		b.dvp.Eventually("the cluster accepts "+o.GetKind(), func(ctx context.Context) bool {
			err := b.Create(ctx, o)
			if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
				b.t.Fatalf("make %s: %v", o.GetKind(), err)
			}
			return err == nil
		})
	}
}
