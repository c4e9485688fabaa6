package layouts

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
)

// machineOf is the one machine that has a node's name.
func machineOf(dvp *emulatortest.DVP, hostname string) v1alpha2.VirtualMachine {
	var all v1alpha2.VirtualMachineList
	dvp.Eventually("one machine of "+hostname, func(ctx context.Context) bool {
		err := dvp.List(ctx, &all, client.InNamespace(dvp.Namespace), client.MatchingLabels{cloud.LabelHostname: hostname, cloud.LabelClusterUUID: uuid})
		return err == nil && len(all.Items) == 1
	})
	return all.Items[0]
}

// left are the names of all that a cluster has in DVP.
func left(t *testing.T, dvp *emulatortest.DVP) []string {
	t.Helper()
	var names []string
	for _, list := range []client.ObjectList{
		&v1alpha2.VirtualMachineList{}, &v1alpha2.VirtualDiskList{}, &v1alpha2.VirtualMachineIPAddressList{}, &corev1.SecretList{},
	} {
		if err := dvp.List(t.Context(), list, client.InNamespace(dvp.Namespace), client.MatchingLabels{cloud.LabelClusterUUID: uuid}); err != nil {
			t.Fatal(err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			names = append(names, item.(client.Object).GetName())
		}
	}
	return names
}

// A master is made, found as it is, changed, lost and mended, and removed.
func TestMasterNode(t *testing.T) {
	t.Parallel()
	dvp := emulatortest.Start(t)
	r := newTree(t).root("master-node")
	c := configuration(t, dvp.Access, dvp.Namespace)
	class := c["masterNodeGroup"].(object)["instanceClass"].(object)
	apply := func() v1alpha2.VirtualMachine {
		t.Helper()
		r.inputs(ofNode(c, 0))
		r.apply()
		r.settled()
		return machineOf(dvp, "demo-master-0")
	}

	first := apply()
	out := r.outputs()
	data := diskLike(t, dvp, "demo-master-kubernetes-data-0-")
	if first.Status.Phase != v1alpha2.MachineRunning || first.Status.IPAddress == "" || out["master_ip_address_for_ssh"] != first.Status.IPAddress || out["node_internal_ip_address"] != first.Status.IPAddress {
		t.Errorf("got outputs %v of machine %+v, want its address", out, first.Status)
	}
	if want := "/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_" + v1alpha2.DiskSerial(data.UID); out["kubernetes_data_device_path"] != want || len(out) != 3 {
		t.Errorf("got outputs %v, want three with %s", out, want)
	}
	if !strings.HasPrefix(first.Name, "demo-master-0-") || len(first.Name) != len("demo-master-0-")+6 || first.Spec.Bootloader != v1alpha2.EFI || first.Spec.Disruptions.RestartApprovalMode != v1alpha2.RestartAutomatic {
		t.Errorf("got machine %s with %+v", first.Name, first.Spec)
	}

	// What is changed in place.
	class["etcdDisk"].(object)["size"], class["rootDisk"].(object)["size"] = "3Gi", "4Gi"
	class["rootDisk"].(object)["storageClass"] = emulatortest.Late // moved by others, so no change here
	grown := apply()
	data = diskLike(t, dvp, "demo-master-kubernetes-data-0-")
	if grown.UID != first.UID || data.Status.Capacity != "3Gi" {
		t.Errorf("after growing disks: got machine %s and a disk of %s, want %s and 3Gi", grown.Name, data.Status.Capacity, first.Name)
	}
	class["virtualMachine"].(object)["runPolicy"] = "AlwaysOn"
	if now := apply(); now.UID != first.UID || now.Spec.RunPolicy != v1alpha2.AlwaysOn {
		t.Errorf("after a change of the run policy: got machine %s with %s", now.Name, now.Spec.RunPolicy)
	}

	// What makes another machine, with the same disks and address.
	vm := class["virtualMachine"].(object)
	for what, change := range map[string]func(){
		"memory":      func() { vm["memory"].(object)["size"] = "2Gi" },
		"selector":    func() { vm["nodeSelector"] = object{"kubernetes.io/hostname": "dvp-node-3"} },
		"tolerations": func() { vm["tolerations"] = []object{{"key": "dedicated", "operator": "Exists"}} },
	} {
		change()
		r.inputs(ofNode(c, 0))
		if text := r.drifted(); !says(text, "2 to add, 0 to change, 2 to destroy") || !says(text, "dvp_virtual_machine.this must be replaced") {
			t.Errorf("a change of %s shows as:\n%s", what, text)
		}
		delete(vm, "nodeSelector")
		delete(vm, "tolerations")
		vm["memory"].(object)["size"] = "1024Mi"
	}
	vm["cpu"].(object)["cores"] = 2
	second := apply()
	if second.Name == first.Name || second.Status.IPAddress != first.Status.IPAddress {
		t.Errorf("after a change of cores: got machine %s with %s, want another of the same address", second.Name, second.Status.IPAddress)
	}
	if now := diskLike(t, dvp, "demo-master-kubernetes-data-0-"); now.UID != data.UID {
		t.Error("the disk of etcd was made anew with the machine")
	}
	class["virtualMachine"].(object)["ipAddresses"] = []string{"10.66.200.7"}
	if now := apply(); now.Name == second.Name || now.Status.IPAddress != "10.66.200.7" {
		t.Errorf("with an address of its own: got %s with %s", now.Name, now.Status.IPAddress)
	}

	// What others did.
	lost := machineOf(dvp, "demo-master-0")
	if err := dvp.Delete(t.Context(), &lost); err != nil {
		t.Fatal(err)
	}
	dvp.AwaitGone(&lost)
	if text := r.drifted(); !strings.Contains(text, "dvp_virtual_machine.this will be created") || !strings.Contains(text, "1 to add, 0 to change, 0 to destroy") {
		t.Errorf("a lost machine shows as:\n%s", text)
	}
	if now := apply(); now.Name != lost.Name || now.UID == lost.UID {
		t.Errorf("got machine %s, want %s anew", now.Name, lost.Name)
	}
	dvp.Change(&v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: dvp.Namespace, Name: lost.Name}}, func(o client.Object) {
		vm := o.(*v1alpha2.VirtualMachine)
		vm.Labels["somebody.example/label"] = "theirs"
		vm.Spec.Memory.Size = resource.MustParse("3Gi")
	})
	if text := r.drifted(); !strings.Contains(text, `memory`) || strings.Contains(text, "somebody.example") {
		t.Errorf("a machine that somebody changed shows as:\n%s", text)
	}
	apply()

	r.must("destroy", "-auto-approve")
	if got := left(t, dvp); len(got) != 0 {
		t.Errorf("after the end there are %v, want nothing", got)
	}
}

func diskLike(t *testing.T, dvp *emulatortest.DVP, prefix string) v1alpha2.VirtualDisk {
	t.Helper()
	var all v1alpha2.VirtualDiskList
	if err := dvp.List(t.Context(), &all, client.InNamespace(dvp.Namespace)); err != nil {
		t.Fatal(err)
	}
	for _, disk := range all.Items {
		if strings.HasPrefix(disk.Name, prefix) {
			return disk
		}
	}
	t.Fatalf("no disk %s… among %d", prefix, len(all.Items))
	panic("unreachable")
}
