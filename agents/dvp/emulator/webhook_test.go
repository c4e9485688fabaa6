package emulator_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	. "commander/agents/dvp/emulator/emulatortest"
)

// refused ends the test unless DVP refuses an object with these words.
func refused(t *testing.T, d *DVP, what string, o client.Object, words string) {
	t.Helper()
	if o.GetNamespace() == "" {
		o.SetNamespace(d.Namespace)
	}
	if err := d.Create(t.Context(), o); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: got %v, want %q", what, err, words)
	}
}

func TestMachineRules(t *testing.T) {
	t.Parallel()
	d := Start(t)
	for name, c := range map[string]struct {
		change func(VM)
		words  string
	}{
		"no devices":           {func(vm VM) { vm.Spec.BlockDeviceRefs = nil }, "blockDeviceRefs"},
		"no cores":             {func(vm VM) { vm.Spec.CPU.Cores = 0 }, "cores"},
		"no class and none is": {func(vm VM) { vm.Spec.VirtualMachineClassName = "" }, "no class is the default one"},
		"policy Never":         {func(vm VM) { vm.Spec.LiveMigrationPolicy = "Never" }, "Unsupported value"},
		"policy Manual":        {func(vm VM) { vm.Spec.LiveMigrationPolicy = "Manual" }, "Unsupported value"},
		"17 devices":           {func(vm VM) { vm.Spec.BlockDeviceRefs = d.Machine("", names(17)...).Spec.BlockDeviceRefs }, "16"},
		"a device twice":       {func(vm VM) { vm.Spec.BlockDeviceRefs = d.Machine("", "a", "a").Spec.BlockDeviceRefs }, "listed twice"},
		"a bootOrder twice":    {func(vm VM) { vm.Spec.BlockDeviceRefs = ordered(1, 1) }, "given twice"},
		"user data too long":   {func(vm VM) { vm.Spec.Provisioning = inline(strings.Repeat("a", 2049)) }, "2048"},
		"user data of no type": {func(vm VM) { vm.Spec.Provisioning = &v1alpha2.Provisioning{Type: v1alpha2.UserData} }, "goes with type UserData"},
		"a long name":          {func(vm VM) { vm.Name = strings.Repeat("a", 64) }, "63 characters"},
		"a label of DVP":       {func(vm VM) { vm.Labels = map[string]string{"virtualization.deckhouse.io/x": "y"} }, "DVP's own"},
		"an annotation of DVP": {func(vm VM) { vm.Annotations = map[string]string{"virtualization.deckhouse.io/x": "y"} }, "DVP's own"},
		"17 cores":             {func(vm VM) { vm.Spec.CPU.Cores = 17 }, "cannot be divided"},
		"an image that no CD is": {func(vm VM) {
			vm.Spec.BlockDeviceRefs = []v1alpha2.BlockDeviceRef{{Kind: "ClusterVirtualImage", Name: Image}}
		}, "is no ISO"},
		"Legacy with EFI": {func(vm VM) { vm.Spec.OSType, vm.Spec.Bootloader = v1alpha2.Legacy, v1alpha2.EFI }, "needs bootloader BIOS"},
	} {
		vm := d.Machine("refused", "a")
		c.change(vm)
		if strings.Contains(name, "image") {
			Await(d, &v1alpha2.ClusterVirtualImage{ObjectMeta: metav1.ObjectMeta{Name: Image}}, "ready", func(i *v1alpha2.ClusterVirtualImage) bool { return i.Status.Phase == "Ready" })
		}
		refused(t, d, name, vm, c.words)
	}
	accepted := d.Machine("accepted", names(16)...)
	accepted.Spec.BlockDeviceRefs[0].BootOrder, accepted.Spec.BlockDeviceRefs[1].BootOrder = new(2), new(1)
	accepted.Spec.Provisioning = inline(strings.Repeat("a", 2048))
	d.Make(accepted)
}

func names(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("d%d", i))
	}
	return all
}

func ordered(orders ...int) []v1alpha2.BlockDeviceRef {
	var refs []v1alpha2.BlockDeviceRef
	for i, order := range orders {
		refs = append(refs, v1alpha2.BlockDeviceRef{Kind: "VirtualDisk", Name: fmt.Sprintf("d%d", i), BootOrder: new(order)})
	}
	return refs
}

func inline(data string) *v1alpha2.Provisioning {
	return &v1alpha2.Provisioning{Type: v1alpha2.UserData, UserData: data}
}

// Missing required fields are missing, not zero, as a manifest has them.
func TestRequiredFields(t *testing.T) {
	t.Parallel()
	d := Start(t)
	for _, field := range []string{"cpu", "memory", "blockDeviceRefs"} {
		spec := map[string]any{
			"virtualMachineClassName": Class, "cpu": map[string]any{"cores": int64(1)}, "memory": map[string]any{"size": "1Gi"},
			"blockDeviceRefs": []any{map[string]any{"kind": "VirtualDisk", "name": "a"}},
		}
		delete(spec, field)
		vm := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "virtualization.deckhouse.io/v1alpha2", "kind": "VirtualMachine",
			"metadata": map[string]any{"name": "a"}, "spec": spec,
		}}
		refused(t, d, "without "+field, vm, "spec."+field+": Required value")
	}
}

func TestSizingPolicy(t *testing.T) {
	t.Parallel()
	d := Start(t)
	size := func(s string) *resource.Quantity { q := resource.MustParse(s); return &q }
	class := &v1alpha2.VirtualMachineClass{ObjectMeta: metav1.ObjectMeta{Name: "sized-" + d.Namespace}, Spec: v1alpha2.ClassSpec{
		CPU: v1alpha2.ClassCPU{Type: "Host"},
		SizingPolicies: []v1alpha2.SizingPolicy{{
			Cores:  v1alpha2.SizingCores{Min: 2, Max: 8, Step: 2},
			Memory: &v1alpha2.SizingMemory{Min: size("2Gi"), Max: size("16Gi"), Step: size("1Gi"), PerCore: &v1alpha2.SizingPerCore{Min: size("1Gi")}}, CoreFractions: []v1alpha2.Percent{50, 100},
		}},
	}}
	d.Make(class)
	const refusal = "does not match the sizing policy of VirtualMachineClass"
	for name, c := range map[string]struct {
		cores            int
		memory, fraction string
		words            string
	}{
		"too few cores":    {1, "4Gi", "", "no policy for 1 cores"},
		"off the grid":     {3, "4Gi", "", "grid of 2"},
		"too much memory":  {2, "32Gi", "", "more than 16Gi"},
		"memory off grid":  {2, "2500Mi", "", "grid of 1Gi"},
		"too little each":  {8, "4Gi", "", "memory for each core"},
		"another fraction": {2, "4Gi", "25%", "core fraction 25%"},
	} {
		vm := d.Machine("a", "a")
		vm.Spec.VirtualMachineClassName, vm.Spec.CPU, vm.Spec.Memory.Size = class.Name, v1alpha2.CPUSpec{Cores: c.cores, CoreFraction: c.fraction}, *size(c.memory)
		refused(t, d, name, vm, refusal)
		vm.ResourceVersion = ""
		refused(t, d, name, vm, c.words)
	}
	fits := d.Machine("fits", "a")
	fits.Spec.VirtualMachineClassName, fits.Spec.CPU.Cores, fits.Spec.Memory.Size = class.Name, 4, *size("4Gi")
	d.Make(fits)
	err := d.TryChange(fits, func(o client.Object) { o.(VM).Spec.CPU.Cores = 3 })
	if err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("change: got %v, want a refusal", err)
	}
}

// warnings collects what the API server warns of.
type warnings struct {
	sync.Mutex
	all []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.Lock()
	defer w.Unlock()
	w.all = append(w.all, text)
}

func TestMissingClassIsAWarning(t *testing.T) {
	t.Parallel()
	d := Start(t)
	heard, config := &warnings{}, rest.CopyConfig(d.Config)
	config.WarningHandler = heard
	c, err := client.New(config, client.Options{Scheme: d.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	vm := d.Machine("a", "a")
	vm.Spec.VirtualMachineClassName = "nothing"
	if err := c.Create(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	heard.Lock()
	defer heard.Unlock()
	if len(heard.all) != 1 || !strings.Contains(heard.all[0], `no VirtualMachineClass "nothing"`) {
		t.Errorf("got warnings %q, want one of the class", heard.all)
	}
}

func testDefaultClass(t *testing.T) {
	d := Start(t)
	first := &v1alpha2.VirtualMachineClass{
		ObjectMeta: metav1.ObjectMeta{Name: "first", Annotations: map[string]string{v1alpha2.AnnotationDefaultClass: "true"}},
		Spec:       v1alpha2.ClassSpec{CPU: v1alpha2.ClassCPU{Type: "Host"}},
	}
	d.Make(first)
	second := first.DeepCopy()
	second.Name, second.ResourceVersion = "second", ""
	refused(t, d, "a second default class", second, "class first is the default one already")
	vm := d.Machine("a", "a")
	vm.Spec.VirtualMachineClassName = ""
	d.Make(vm)
	if vm.Spec.VirtualMachineClassName != "first" {
		t.Errorf("got class %q, want the default one", vm.Spec.VirtualMachineClassName)
	}
	if err := d.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	Await(d, first, "Terminating while it is used", func(c *v1alpha2.VirtualMachineClass) bool { return c.Status.Phase == v1alpha2.ClassPhaseTerminating })
	if err := d.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(first)
}

func TestDiskRules(t *testing.T) {
	t.Parallel()
	d := Start(t)
	Await(d, &v1alpha2.ClusterVirtualImage{ObjectMeta: metav1.ObjectMeta{Name: Image}}, "ready", func(i *v1alpha2.ClusterVirtualImage) bool { return i.Status.Phase == "Ready" })
	image := func(o client.Object) {
		o.(VD).Spec.DataSource = &v1alpha2.DataSource{Type: "ObjectRef", ObjectRef: &v1alpha2.ObjectRefSource{Kind: "ClusterVirtualImage", Name: Image}}
	}
	small, blank := d.Disk("small", Immediate, "500Mi"), d.Disk("blank", Immediate, "1Gi")
	image(small)
	blank.Spec.PersistentVolumeClaim.Size = nil
	refused(t, d, "size 0", d.Disk("zero", Immediate, "0"), "must be more than 0")
	refused(t, d, "a dot", d.Disk("a.b", Immediate, "1Gi"), "must not contain a dot")
	refused(t, d, "smaller than its image", small, "too small")
	refused(t, d, "no size", blank, "needs a size")
	vd := d.Disk("a", Immediate, "2Gi")
	d.Make(vd)
	awaitDisk(d, vd, v1alpha2.DiskPhaseReady)
	shrink := func(o client.Object) { o.(VD).Spec.PersistentVolumeClaim.Size = new(resource.MustParse("1Gi")) }
	if err := d.TryChange(vd, shrink); err == nil || !strings.Contains(err.Error(), "cannot shrink") {
		t.Errorf("shrink: got %v", err)
	}
	if err := d.TryChange(vd, image); err == nil || !strings.Contains(err.Error(), "cannot change after") {
		t.Errorf("another source: got %v", err)
	}
}

func TestAttachmentRules(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Make(d.Machine("full", names(15)...))
	d.Make(d.Machine("other", "root"))
	first := d.Attachment("first", "full", "x")
	d.Make(first)
	refused(t, d, "the same disk", d.Attachment("second", "other", "x"), "attached by first already")
	refused(t, d, "device 17", d.Attachment("third", "full", "y"), "more than the limit of 16")
	err := d.TryChange(first, func(o client.Object) {
		o.(*v1alpha2.VirtualMachineBlockDeviceAttachment).Spec.VirtualMachineName = "other"
	})
	if err == nil || !strings.Contains(err.Error(), "cannot be changed") {
		t.Errorf("change: got %v, want a refusal", err)
	}
	vm := &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "other"}}
	d.Make(d.Attachment("fourth", "other", "z"))
	err = d.TryChange(vm, func(o client.Object) { o.(VM).Spec.BlockDeviceRefs = d.Machine("", "root", "z").Spec.BlockDeviceRefs })
	if err == nil || !strings.Contains(err.Error(), "attached by fourth already") {
		t.Errorf("an attached disk in the spec: got %v, want a refusal", err)
	}
}

func TestOperationRules(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Knob("emulator.dvp/delays", "start=1h,stop=0s")
	vm := d.Machine("a", "a")
	vm.Spec.RunPolicy = v1alpha2.Manual
	d.Make(d.Disk("a", Immediate, "1Gi"))
	d.Make(vm)
	AwaitPhase(d, vm, v1alpha2.MachineStopped)
	op := func(name string, kind v1alpha2.OperationType, force bool) *v1alpha2.VirtualMachineOperation {
		return &v1alpha2.VirtualMachineOperation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha2.OperationSpec{Type: kind, VirtualMachineName: "a", Force: &force}}
	}
	refused(t, d, "forced start", op("forced", v1alpha2.OperationStart, true), "force is not for Start")
	start := op("start", v1alpha2.OperationStart, false)
	d.Make(start)
	AwaitPhase(d, vm, v1alpha2.MachineStarting)
	refused(t, d, "another start", op("again", v1alpha2.OperationStart, false), "operation start of machine a is not finished")
	err := d.TryChange(start, func(o client.Object) { o.(*v1alpha2.VirtualMachineOperation).Spec.VirtualMachineName = "b" })
	if err == nil || !strings.Contains(err.Error(), "cannot be changed") {
		t.Errorf("change: got %v, want a refusal", err)
	}
	d.Make(op("stop", v1alpha2.OperationStop, false))
	Await(d, start, "superseded", func(op *v1alpha2.VirtualMachineOperation) bool {
		return op.Status.Phase == v1alpha2.OperationPhaseSuperseded
	})
	AwaitPhase(d, vm, v1alpha2.MachineStopped)
}

func TestObjectQuota(t *testing.T) {
	t.Parallel()
	d := Start(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/virtualdisks.virtualization.deckhouse.io": resource.MustParse("1")}}}
	d.Make(quota)
	Await(d, quota, "a judged quota", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) > 0 })
	d.Make(d.Disk("a", Immediate, "1Gi"))
	refused(t, d, "a second disk", d.Disk("b", Immediate, "1Gi"), "exceeded quota")
}
