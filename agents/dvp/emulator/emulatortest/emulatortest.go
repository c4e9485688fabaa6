// Package emulatortest gives tests a DVP: the emulator on a real API server.
package emulatortest

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator"
	"commander/internal/kubetest"
)

// bound is how long an awaited thing may take before the test gives up. It is long, since many tests
// share a machine.
const bound = 2 * time.Minute

// What every DVP for tests has.
const (
	Class     = "generic"   // a class of machines that allows all sizes
	Image     = "debian"    // a ClusterVirtualImage of 1Gi
	Immediate = "immediate" // a StorageClass whose volumes are made at once and can grow
	Late      = "late"      // one whose volumes wait for their first consumer
	Fixed     = "fixed"     // one whose volumes cannot grow
)

// DVP is one project of the emulator, for one test.
type DVP struct {
	client.Client
	t         testing.TB
	Config    *rest.Config // of who owns the whole DVP
	Access    *rest.Config // of who may use the project, with the rights of docs/dvp.md and no others
	Namespace string
}

// shared is the emulator of a test binary while any test uses it.
var shared struct {
	sync.Mutex // protects the others
	users      int
	stop       context.CancelFunc
	ended      chan error
}

// Start gives a test a project of its own in the DVP of its test binary.
func Start(t testing.TB) *DVP {
	t.Helper()
	server := kubetest.Start(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.users == 0 {
		shared.stop, shared.ended = launch(t, server.Config, nil)
	}
	shared.users++
	t.Cleanup(release(t))
	return project(t, server)
}

// StartOwn gives a test a DVP that no other test has, with other options.
func StartOwn(t testing.TB, change func(*emulator.Options)) *DVP {
	t.Helper()
	server := kubetest.StartOwn(t)
	stop, ended := launch(t, server.Config, change)
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("stop emulator: %v", err)
		}
	})
	return project(t, server)
}

// project makes one with all that tests take for granted.
func project(t testing.TB, server *kubetest.Server) *DVP {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha2.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	d := &DVP{Client: c, t: t, Config: server.Config, Namespace: server.Namespace(t)}
	d.furnish()
	d.Access = d.access()
	return d
}

func launch(t testing.TB, config *rest.Config, change func(*emulator.Options)) (stop context.CancelFunc, ended chan error) {
	t.Helper()
	log.SetLogger(logr.Discard()) // what the library says about itself is no part of a test
	o := emulator.Defaults()
	o.Config, o.MachineRanges = config, []netip.Prefix{netip.MustParsePrefix("10.66.0.0/16")}
	o.LeaseRetention, o.EvictionDelay = 2*time.Second, 200*time.Millisecond
	o.Nodes = []string{"dvp-node-1", "dvp-node-2", "dvp-node-3"}
	o.Delays = emulator.Delays{
		Start: 50 * time.Millisecond, Stop: 50 * time.Millisecond, Provision: 50 * time.Millisecond, Resize: 50 * time.Millisecond,
		Attach: 50 * time.Millisecond, Detach: 50 * time.Millisecond, Migrate: 50 * time.Millisecond, DeleteDisk: 20 * time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	e, err := emulator.New(t.Context(), o)
	if err != nil {
		t.Fatalf("start emulator: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	return cancel, ended
}

func release(t testing.TB) func() {
	return func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.users--; shared.users > 0 {
			return
		}
		shared.stop()
		if err := <-shared.ended; err != nil {
			t.Errorf("stop emulator: %v", err)
		}
	}
}

// furnish makes what every DVP has; the webhooks may still be starting.
func (d *DVP) furnish() {
	d.t.Helper()
	late, grow := storagev1.VolumeBindingWaitForFirstConsumer, true
	at := storagev1.VolumeBindingImmediate
	for _, o := range []client.Object{
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: Immediate}, Provisioner: "emulator.dvp", VolumeBindingMode: &at, AllowVolumeExpansion: &grow},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: Late}, Provisioner: "emulator.dvp", VolumeBindingMode: &late, AllowVolumeExpansion: &grow},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: Fixed}, Provisioner: "emulator.dvp", VolumeBindingMode: &at},
		&v1alpha2.VirtualMachineClass{ObjectMeta: metav1.ObjectMeta{Name: Class}, Spec: v1alpha2.ClassSpec{CPU: v1alpha2.ClassCPU{Type: "Host"}}},
		&v1alpha2.ClusterVirtualImage{ObjectMeta: metav1.ObjectMeta{Name: Image}, Spec: v1alpha2.ClusterVirtualImageSpec{DataSource: v1alpha2.ImageDataSource{
			Type: v1alpha2.SourceHTTP, HTTP: &v1alpha2.HTTPSource{URL: "http://127.0.0.1/debian.qcow2"},
		}}},
	} {
		d.Eventually("the emulator accepts "+o.GetName(), func(ctx context.Context) bool {
			err := d.Create(ctx, o)
			return err == nil || apierrors.IsAlreadyExists(err)
		})
	}
}

// Eventually waits until a thing is so and ends the test if it never is.
func (d *DVP) Eventually(what string, so func(context.Context) bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), bound)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so(ctx) {
		select {
		case <-ctx.Done():
			d.t.Fatalf("waited in vain for: %s", what)
		case <-tick.C:
		}
	}
}

// Await waits until an object is as a test says, and tells how it was last if it never is.
func Await[T client.Object](d *DVP, o T, what string, so func(T) bool) T {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), bound)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := d.Get(ctx, client.ObjectKeyFromObject(o), o)
		if err == nil && so(o) {
			return o
		}
		select {
		case <-ctx.Done():
			d.t.Fatalf("waited in vain for %s: %s; got %v, %s", o.GetName(), what, err, brief(o))
		case <-tick.C:
		}
	}
}

// brief is an object without what no test is about.
func brief(o client.Object) string {
	o.SetManagedFields(nil)
	text, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// AwaitGone waits until an object does not exist.
func (d *DVP) AwaitGone(o client.Object) {
	d.t.Helper()
	d.Eventually(o.GetName()+" is gone", func(ctx context.Context) bool {
		return apierrors.IsNotFound(d.Get(ctx, client.ObjectKeyFromObject(o), o))
	})
}

// Make makes an object in the project and ends the test if DVP refuses it.
func (d *DVP) Make(o client.Object) {
	d.t.Helper()
	if o.GetNamespace() == "" {
		o.SetNamespace(d.Namespace)
	}
	if err := d.Create(d.t.Context(), o); err != nil {
		d.t.Fatalf("make %s: %v", o.GetName(), err)
	}
}

// Knob sets an annotation of the project's namespace.
func (d *DVP) Knob(key, value string) {
	d.t.Helper()
	d.Change(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: d.Namespace}}, func(o client.Object) {
		notes := o.GetAnnotations()
		if notes == nil {
			notes = map[string]string{}
		}
		notes[key] = value
		o.SetAnnotations(notes)
	})
}

// Change reads an object and patches what a function changes.
func (d *DVP) Change(o client.Object, change func(client.Object)) {
	d.t.Helper()
	if err := d.TryChange(o, change); err != nil {
		d.t.Fatalf("change %s: %v", o.GetName(), err)
	}
}

// TryChange is Change for a test that expects a refusal.
func (d *DVP) TryChange(o client.Object, change func(client.Object)) error {
	if err := d.Get(d.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	before := o.DeepCopyObject().(client.Object)
	change(o)
	return d.Patch(d.t.Context(), o, client.MergeFrom(before))
}

// Disk is a blank disk of the project.
func (d *DVP) Disk(name, class, size string) *v1alpha2.VirtualDisk {
	quantity := resource.MustParse(size)
	return &v1alpha2.VirtualDisk{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name},
		Spec:       v1alpha2.VirtualDiskSpec{PersistentVolumeClaim: v1alpha2.VolumeSpec{StorageClassName: &class, Size: &quantity}},
	}
}

// Machine is a small machine of the project with these disks.
func (d *DVP) Machine(name string, disks ...string) *v1alpha2.VirtualMachine {
	vm := &v1alpha2.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name},
		Spec: v1alpha2.VirtualMachineSpec{
			VirtualMachineClassName: Class, CPU: v1alpha2.CPUSpec{Cores: 1}, Memory: v1alpha2.MemorySpec{Size: resource.MustParse("1Gi")},
		},
	}
	for _, disk := range disks {
		vm.Spec.BlockDeviceRefs = append(vm.Spec.BlockDeviceRefs, v1alpha2.BlockDeviceRef{Kind: v1alpha2.KindVirtualDisk, Name: disk})
	}
	return vm
}

// Attachment plugs a disk of the project into a machine.
func (d *DVP) Attachment(name, machine, disk string) *v1alpha2.VirtualMachineBlockDeviceAttachment {
	return &v1alpha2.VirtualMachineBlockDeviceAttachment{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name},
		Spec: v1alpha2.AttachmentSpec{
			VirtualMachineName: machine, BlockDeviceRef: v1alpha2.AttachmentDeviceRef{Kind: v1alpha2.KindVirtualDisk, Name: disk},
		},
	}
}

// Run makes a machine with a disk of its own, which is called like it, and waits until it runs.
func (d *DVP) Run(name string) *v1alpha2.VirtualMachine {
	d.t.Helper()
	d.Make(d.Disk(name, Immediate, "1Gi"))
	vm := d.Machine(name, name)
	d.Make(vm)
	return AwaitPhase(d, vm, v1alpha2.MachineRunning)
}

// AwaitPhase waits until a machine is in a phase.
func AwaitPhase(d *DVP, vm *v1alpha2.VirtualMachine, phase v1alpha2.MachinePhase) *v1alpha2.VirtualMachine {
	d.t.Helper()
	return Await(d, vm, "phase "+string(phase), func(vm *v1alpha2.VirtualMachine) bool { return vm.Status.Phase == phase })
}
