package capdvp

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/internal/clock"
)

func (b *bed) awaitMigration(dm *v1alpha1.DeckhouseMachine, reason, words string) {
	b.t.Helper()
	b.await(dm, reason+" "+words, func(dm *v1alpha1.DeckhouseMachine) bool {
		c := condition(dm, v1alpha1.ConditionMigration)
		return c.Reason == reason && strings.Contains(c.Message, words)
	})
}

func TestDisksAreMoved(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.machine("m", "script", func(dm *v1alpha1.DeckhouseMachine) {
		dm.Spec.AdditionalDisks = []v1alpha1.AdditionalDisk{{Size: resource.MustParse("1Gi"), StorageClass: emulatortest.Immediate}}
	})
	b.awaitReason(dm, v1alpha1.VMRunning, "")
	if c := condition(dm, v1alpha1.ConditionMigration); c.Type != "" {
		t.Errorf("got %+v where nothing is to be moved", c)
	}
	b.dvp.Knob(emulator.AnnotationDelays, "migrate=500ms")
	b.patch(dm, `{"spec":{"rootDiskStorageClass":"fixed","additionalDisks":[{"size":"1Gi","storageClass":"late"}]}}`)
	b.awaitMigration(dm, v1alpha1.DiskMigrationInProgress, "m-boot")
	b.await(dm, "a note of the boot disk", func(dm *v1alpha1.DeckhouseMachine) bool {
		_, err := time.Parse(time.RFC3339, dm.Annotations["dvp.deckhouse.io/disk-migration-started-m-boot"])
		return err == nil
	})
	other := b.disk("m-additional-disk-0")
	b.there(other)
	if *other.Spec.PersistentVolumeClaim.StorageClassName != emulatortest.Immediate {
		t.Error("two disks are moved at a time")
	}
	b.awaitMigration(dm, v1alpha1.DiskMigrationInProgress, "m-additional-disk-0")
	boot := b.disk("m-boot")
	b.there(boot)
	if boot.Status.StorageClassName != emulatortest.Fixed {
		t.Errorf("got class %s before the next disk, want the boot disk moved", boot.Status.StorageClassName)
	}
	b.awaitMigration(dm, v1alpha1.DiskMigrationCompleted, "")
	b.there(other)
	if other.Status.StorageClassName != emulatortest.Late || !dm.Status.Ready {
		t.Errorf("got class %s, ready %v", other.Status.StorageClassName, dm.Status.Ready)
	}
	for key := range dm.Annotations {
		if strings.HasPrefix(key, v1alpha1.NoteMigrationStarted) {
			t.Errorf("got annotation %s after the end", key)
		}
	}
}

func TestMoveThatFails(t *testing.T) {
	t.Parallel()
	now := clock.At(time.Now())
	b := newBed(t, func(p *Provider) { p.Clock = now })
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	b.patch(dm, `{"spec":{"rootDiskStorageClass":"nothing"}}`)
	b.awaitMigration(dm, v1alpha1.DiskMigrationFailed, "no such storage class")
	if !dm.Status.Ready {
		t.Error("a machine whose disk stays where it is is not ready")
	}

	b.dvp.Knob(emulator.AnnotationDelays, "migrate=1h")
	b.patch(dm, `{"spec":{"rootDiskStorageClass":"late"}}`)
	b.awaitMigration(dm, v1alpha1.DiskMigrationInProgress, "late")
	boot := b.disk("m-boot")
	emulatortest.Await(b.dvp, boot, "moving", func(d *v1alpha2.VirtualDisk) bool { return d.Status.MigrationState != nil })
	now.Advance(migrationBound + time.Minute)
	b.awaitMigration(dm, v1alpha1.DiskMigrationFailed, "not there after 2h")

	b.dvp.Change(boot, func(o client.Object) {
		o.SetAnnotations(map[string]string{emulator.AnnotationDelays: "migrate=0s"})
	})
	emulatortest.Await(b.dvp, boot, "moved after all", func(d *v1alpha2.VirtualDisk) bool { return d.Status.StorageClassName == emulatortest.Late })
	b.dvp.Knob(emulator.AnnotationFaults, emulator.FaultMigrationFailed)
	now.Set(time.Now())
	b.patch(dm, `{"spec":{"rootDiskStorageClass":"fixed"}}`)
	b.awaitMigration(dm, v1alpha1.DiskMigrationFailed, "told to fail")
	b.await(dm, "no note of a move", func(dm *v1alpha1.DeckhouseMachine) bool { return len(dm.Annotations) == 0 })
}

func TestLongNamesOfDisks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", strings.Repeat("a", 63)} {
		if problems := validation.IsQualifiedName(migrationKey(name)); len(problems) > 0 {
			t.Errorf("%s: %v", migrationKey(name), problems)
		}
	}
}
