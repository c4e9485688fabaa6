package cloud

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator/emulatortest"
)

func project(t *testing.T) (*emulatortest.DVP, *Cloud) {
	t.Helper()
	d := emulatortest.Start(t)
	c, err := New(d.Access, d.Namespace, "11111111-2222-3333-4444-555555555555")
	if err != nil {
		t.Fatal(err)
	}
	return d, c
}

// What ends between a read and the watch that follows it must not be waited for without end.
func TestDeletionIsNotMissed(t *testing.T) {
	t.Parallel()
	d, c := project(t)
	disk := d.Disk("a", emulatortest.Immediate, "1Gi")
	d.Make(disk)
	c.client = interceptor.NewClient(c.client, interceptor.Funcs{
		Watch: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
			if err := d.Delete(ctx, disk); err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
			d.AwaitGone(d.Disk("a", emulatortest.Immediate, "1Gi"))
			return inner.Watch(ctx, list, opts...)
		},
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := awaitGone(ctx, c, disk.DeepCopy(), &v1alpha2.VirtualDiskList{}); err != nil {
		t.Error(err)
	}
}

// While a machine is replaced, two have the label of its node.
func TestMachineOfNode(t *testing.T) {
	t.Parallel()
	d, c := project(t)
	if _, err := c.MachineOfNode(t.Context(), "node"); !Is(err, NotFound) {
		t.Errorf("got %v, want that there is none", err)
	}
	add := func(name string, labels map[string]string) *v1alpha2.VirtualMachine {
		t.Helper()
		vm := d.Machine(name, name)
		vm.Labels = labels
		d.Make(vm)
		return vm
	}
	want := func(name string) {
		t.Helper()
		if got, err := c.MachineOfNode(t.Context(), "node"); err != nil || got.Name != name {
			t.Errorf("got %v, %v, want %s", got, err, name)
		}
	}
	add("foreign", map[string]string{LabelHostname: "node", LabelClusterUUID: "other"})
	add("a-first", c.labels(map[string]string{LabelHostname: "node"}))
	want("a-first")
	add("b-second", c.labels(map[string]string{LabelHostname: "node"}))
	want("b-second")
	second := &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "b-second"}}
	d.Change(second, func(o client.Object) { o.SetFinalizers([]string{"test/held"}) })
	if err := d.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	want("a-first")
	d.Change(second, func(o client.Object) { o.SetFinalizers(nil) })
}
