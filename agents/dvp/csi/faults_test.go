package csi

import (
	"context"
	"fmt"
	"testing"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
)

// Callers repeat a call until it succeeds. Whatever fails on the way, a volume is never on two nodes,
// and in the end nothing is left.
func TestVolumesUnderFaults(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.addNode("other")
	faulty, err := cloud.New(emulatortest.Faulty(d.Access, 1, 0.2), d.Namespace, cluster)
	if err != nil {
		t.Fatal(err)
	}
	controller := &Controller{Cloud: faulty}
	repeat := func(what string, call func(context.Context) error) {
		t.Helper()
		d.Eventually(what, func(ctx context.Context) bool {
			err := call(ctx)
			if code := status.Code(err); code == codes.InvalidArgument || code == codes.NotFound || code == codes.AlreadyExists {
				t.Fatalf("%s: got %v, which nobody repeats", what, err)
			}
			return err == nil
		})
	}
	for i := range 4 {
		name := fmt.Sprintf("pvc-%d", i)
		repeat("create "+name, func(ctx context.Context) error {
			_, err := controller.CreateVolume(ctx, createRequest(name, emulatortest.Immediate, 1<<30))
			return err
		})
		for _, node := range []string{"node", "other", "node"} {
			repeat("publish "+name, func(ctx context.Context) error {
				_, err := controller.ControllerPublishVolume(ctx, publishRequest(name, node))
				return err
			})
			attached, err := d.controller.Cloud.Attachments(t.Context(), cloud.OfDisk(name))
			if err != nil || len(attached) != 1 || attached[0].Spec.VirtualMachineName != node+"-a1b2c3" || attached[0].Status.Phase != v1alpha2.AttachmentPhaseAttached {
				t.Fatalf("got attachments %+v, %v, want one to %s", attached, err, node)
			}
			repeat("unpublish "+name, func(ctx context.Context) error {
				_, err := controller.ControllerUnpublishVolume(ctx, &csipb.ControllerUnpublishVolumeRequest{VolumeId: name, NodeId: node})
				return err
			})
		}
		repeat("delete "+name, func(ctx context.Context) error {
			_, err := controller.DeleteVolume(ctx, &csipb.DeleteVolumeRequest{VolumeId: name})
			return err
		})
	}
	for _, list := range []client.ObjectList{&v1alpha2.VirtualDiskList{}, &v1alpha2.VirtualMachineBlockDeviceAttachmentList{}} {
		if err := d.List(t.Context(), list, client.InNamespace(d.Namespace), client.MatchingLabels{cloud.LabelClusterUUID: cluster}); err != nil {
			t.Fatal(err)
		}
		if left := meta.LenList(list); left > 0 {
			t.Errorf("got %d left of %T, want none", left, list)
		}
	}
}
