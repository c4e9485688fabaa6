package capdvp

import (
	"context"
	"log/slog"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
)

const configured = `
apiVersion: deckhouse.io/v1
kind: DVPClusterConfiguration
layout: Standard
sshPublicKey: ssh-ed25519 AAAA
provider: {kubeconfigDataBase64: YQ==, namespace: project}
masterNodeGroup:
  replicas: 1
  instanceClass:
    virtualMachine: {cpu: {cores: 4}, memory: {size: 8Gi}, virtualMachineClassName: generic}
    rootDisk: {size: 50Gi, storageClass: late, image: {kind: ClusterVirtualImage, name: debian-12}}
    etcdDisk: {size: 15Gi, storageClass: late}
    additionalDisks: [{size: 1Gi}, {size: 1Gi, storageClass: late}]
nodeGroups:
- name: front
  replicas: 1
  instanceClass:
    virtualMachine: {cpu: {cores: 2}, memory: {size: 4Gi}, virtualMachineClassName: generic}
    rootDisk: {size: 20Gi, image: {kind: ClusterVirtualImage, name: debian-12}}
`

// Disks of nodes that OpenTofu made go where their groups' configuration says, one after the other.
func TestDisksOfPermanentNodesAreMoved(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for name, group := range map[string]string{"p-master-0": "master", "p-front-0": "front", "p-other-0": "other"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node.deckhouse.io/group": group}}}
		if err := b.Create(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Delete(context.Background(), node) }) // the cluster is shared with other tests
	}
	all := map[string]string{ // and where each is to be
		"p-master-0-abc123": "late", "p-master-kubernetes-data-0-abc123": "late", "p-master-additional-disk-0-0-abc123": "immediate", "p-master-additional-disk-1-0-abc123": "late",
		"p-front-0-abc123": "immediate", "p-other-0-abc123": "immediate",
	}
	hosts := map[string]string{"p-front-0-abc123": "p-front-0", "p-other-0-abc123": "p-other-0"}
	var master []string
	for name := range all {
		disk, host := b.dvp.Disk(name, emulatortest.Immediate, "1Gi"), hosts[name]
		if host == "" {
			host, master = "p-master-0", append(master, name)
		}
		disk.Labels = map[string]string{cloud.LabelClusterUUID: uuid, cloud.LabelHostname: host}
		b.dvp.Make(disk)
	}
	vm := b.dvp.Machine("p-master-0-abc123", master...)
	b.dvp.Make(vm)
	emulatortest.AwaitPhase(b.dvp, vm, v1alpha2.MachineRunning)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: installedName}, Data: map[string][]byte{installedKey: []byte(configured)}}
	if err := b.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Delete(context.Background(), secret) })

	p := &Permanent{Provider: b.provider, Live: b.Client, Log: slog.New(slog.DiscardHandler)}
	most := 0
	b.dvp.Eventually("all disks are where they are to be", func(ctx context.Context) bool {
		if err := p.move(ctx); err != nil {
			t.Fatal(err)
		}
		right, moving := 0, 0
		for name, class := range all {
			disk := b.disk(name)
			b.there(disk)
			if disk.Status.Phase == v1alpha2.DiskPhaseMigrating {
				moving++
			}
			if disk.Status.StorageClassName == class && disk.Status.Phase == v1alpha2.DiskPhaseReady {
				right++
			}
		}
		most = max(most, moving)
		return right == len(all)
	})
	if most > 1 {
		t.Errorf("%d disks were moved at once, want one", most)
	}
}
