package emulator_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator"
	. "commander/agents/dvp/emulator/emulatortest"
)

func awaitDisk(d *DVP, vd VD, phase v1alpha2.DiskPhase) VD {
	return Await(d, vd, "phase "+string(phase), func(vd VD) bool { return vd.Status.Phase == phase })
}

// awaitReady waits for a phase with a reason of the condition Ready.
func awaitReady(d *DVP, vd VD, phase v1alpha2.DiskPhase, why, words string) VD {
	return Await(d, vd, string(phase)+" for "+why, func(vd VD) bool {
		c := meta.FindStatusCondition(vd.Status.Conditions, v1alpha2.DiskReady)
		return vd.Status.Phase == phase && c != nil && c.Reason == why && strings.Contains(c.Message, words)
	})
}

func fromImage(d *DVP, name, kind, image string) VD {
	vd := d.Disk(name, Immediate, "2Gi")
	vd.Spec.DataSource = &v1alpha2.DataSource{Type: "ObjectRef", ObjectRef: &v1alpha2.ObjectRefSource{Kind: kind, Name: image}}
	return vd
}

func TestBlankDisks(t *testing.T) {
	t.Parallel()
	d := Start(t)
	now, late := d.Disk("now", Immediate, "1Gi"), d.Disk("late", Late, "1Gi")
	d.Make(now)
	d.Make(late)
	awaitDisk(d, now, v1alpha2.DiskPhaseReady)
	if now.Status.Capacity != "1Gi" || now.Status.Progress != "100%" || now.Status.StorageClassName != Immediate {
		t.Errorf("got %+v, want capacity, progress and class", now.Status)
	}
	awaitReady(d, late, v1alpha2.DiskPhaseWaitForConsumer, v1alpha2.DiskWaitingForConsumer, "")
	if late.Status.Capacity != "" {
		t.Errorf("got capacity %q before there is a volume", late.Status.Capacity)
	}
	d.Run("a")
	d.Make(d.Attachment("late", "a", "late"))
	awaitDisk(d, late, v1alpha2.DiskPhaseReady)
}

func TestImageDisk(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Knob(emulator.AnnotationDelays, "provision=1s")
	vd := fromImage(d, "a", "VirtualImage", "late")
	d.Make(vd)
	awaitReady(d, vd, v1alpha2.DiskPhasePending, v1alpha2.DiskDatasourceNotFound, "")
	d.Make(&v1alpha2.VirtualImage{
		ObjectMeta: metav1.ObjectMeta{Name: "late"},
		Spec:       v1alpha2.VirtualImageSpec{DataSource: v1alpha2.ImageDataSource{Type: "HTTP", HTTP: &v1alpha2.HTTPSource{URL: "http://127.0.0.1/a.qcow2"}}},
	})
	seen := map[string]bool{}
	Await(d, vd, "ready", func(vd VD) bool {
		seen[vd.Status.Progress] = true
		return vd.Status.Phase == v1alpha2.DiskPhaseReady
	})
	if len(seen) < 4 { // nothing, at least two on the way, and 100%
		t.Errorf("got progress %v, want it to rise", seen)
	}
}

func TestStorageQuota(t *testing.T) {
	t.Parallel()
	d := Start(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.storage": resource.MustParse("3Gi")}}}
	d.Make(quota)
	Await(d, quota, "a judged quota", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) > 0 })
	first, second := d.Disk("first", Immediate, "2Gi"), d.Disk("second", Immediate, "2Gi")
	d.Make(first)
	awaitDisk(d, first, v1alpha2.DiskPhaseReady)
	d.Make(second)
	awaitReady(d, second, v1alpha2.DiskPhasePending, v1alpha2.DiskQuotaExceeded, "exceeded quota")
	d.Change(first, func(o client.Object) { o.(VD).Spec.PersistentVolumeClaim.Size = new(resource.MustParse("4Gi")) })
	Await(d, first, "no space to grow", func(vd VD) bool {
		return reason(vd.Status.Conditions, v1alpha2.DiskResizing) == "False NotAvailable"
	})
	if err := d.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	awaitDisk(d, second, v1alpha2.DiskPhaseReady)
}

func TestUnknownStorageClass(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vd := d.Disk("a", "nothing", "1Gi")
	d.Make(vd)
	awaitReady(d, vd, v1alpha2.DiskPhasePending, v1alpha2.DiskClassIsNotReady, "")
	if got := reason(vd.Status.Conditions, v1alpha2.DiskStorageClassReady); got != "False StorageClassNotReady" {
		t.Errorf("got StorageClassReady %s", got)
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Knob(emulator.AnnotationDelays, "resize=500ms")
	vd, fixed := d.Disk("a", Immediate, "1Gi"), d.Disk("fixed", Fixed, "1Gi")
	grow := func(o client.Object) { o.(VD).Spec.PersistentVolumeClaim.Size = new(resource.MustParse("2Gi")) }
	for _, disk := range []VD{vd, fixed} {
		d.Make(disk)
		awaitDisk(d, disk, v1alpha2.DiskPhaseReady)
		d.Change(disk, grow)
	}
	Await(d, vd, "resizing", func(vd VD) bool {
		return vd.Status.Phase == v1alpha2.DiskPhaseResizing && reason(vd.Status.Conditions, v1alpha2.DiskResizing) == "True InProgress"
	})
	Await(d, vd, "larger", func(vd VD) bool { return vd.Status.Phase == v1alpha2.DiskPhaseReady && vd.Status.Capacity == "2Gi" })
	Await(d, fixed, "refused", func(vd VD) bool {
		return vd.Status.Capacity == "1Gi" && reason(vd.Status.Conditions, v1alpha2.DiskResizing) == "False NotAvailable"
	})
}

func TestDiskMovesToAnotherClass(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Run("a")
	vd := &v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "a"}}
	move := func(class string) {
		d.Change(vd, func(o client.Object) { o.(VD).Spec.PersistentVolumeClaim.StorageClassName = &class })
	}
	look := func() {
		if err := d.Get(t.Context(), client.ObjectKeyFromObject(vd), vd); err != nil {
			t.Fatal(err)
		}
	}
	look()
	source := vd.Status.Target.PersistentVolumeClaimName
	watcher, err := client.NewWithWatch(d.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := watcher.Watch(t.Context(), new(corev1.PersistentVolumeClaimList), client.InNamespace(d.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer claims.Stop()
	move(Fixed)
	for event := range claims.ResultChan() {
		if claim, is := event.Object.(*corev1.PersistentVolumeClaim); !is || claim.Name != source || event.Type != watch.Deleted && claim.DeletionTimestamp.IsZero() {
			continue
		}
		if look(); vd.Status.Target.PersistentVolumeClaimName == source {
			t.Error("the volume that the disk says it has was dropped")
		}
		break
	}
	Await(d, vd, "moved", func(vd VD) bool {
		return vd.Status.Phase == v1alpha2.DiskPhaseReady && vd.Status.StorageClassName == Fixed && vd.Status.MigrationState.Result == v1alpha2.MigrationSucceeded
	})
	move("nothing")
	Await(d, vd, "no such class", func(vd VD) bool {
		return reason(vd.Status.Conditions, v1alpha2.DiskMigrating) == "False StorageClassNotFound"
	})
	d.Knob(emulator.AnnotationFaults, emulator.FaultMigrationFailed)
	move(Immediate)
	Await(d, vd, "not moved", func(vd VD) bool {
		return vd.Status.Phase == v1alpha2.DiskPhaseReady && vd.Status.StorageClassName == Fixed && vd.Status.MigrationState.Result == v1alpha2.MigrationFailed
	})
}

func TestDiskInUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Run("a")
	vd := &v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "a"}}
	if err := d.Delete(t.Context(), vd); err != nil {
		t.Fatal(err)
	}
	Await(d, vd, "waiting", func(vd VD) bool {
		return vd.Status.Phase == v1alpha2.DiskPhaseTerminating && reason(vd.Status.Conditions, v1alpha2.DiskTerminating) == "True CleanupPending"
	})
	if err := d.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(vd)
	d.AwaitGone(vm)
}

func TestLostVolume(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vd := d.Disk("a", Immediate, "1Gi")
	d.Make(vd)
	awaitDisk(d, vd, v1alpha2.DiskPhaseReady)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: vd.Status.Target.PersistentVolumeClaimName}}
	if err := d.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	awaitReady(d, vd, v1alpha2.DiskPhasePVCLost, v1alpha2.DiskPVCLost, "")
}

func TestFailedDisk(t *testing.T) {
	t.Parallel()
	d := Start(t)
	for fault, why := range map[string]string{emulator.FaultProvisioningFailed: v1alpha2.DiskProvisioningFailed, emulator.FaultImagePullFailed: v1alpha2.DiskImagePullFailed} {
		vd := d.Disk(fault, Immediate, "1Gi")
		vd.Annotations = map[string]string{emulator.AnnotationFaults: fault}
		d.Make(vd)
		awaitReady(d, vd, v1alpha2.DiskPhaseFailed, why, "")
	}
}
