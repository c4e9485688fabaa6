package csi

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator"
	"commander/agents/dvp/emulator/emulatortest"
)

func wantCode(t *testing.T, what string, err error, code codes.Code, words string) {
	t.Helper()
	if status.Code(err) != code || !strings.Contains(status.Convert(err).Message(), words) {
		t.Errorf("%s: got %v, want %s with %q", what, err, code, words)
	}
}

func TestCreateVolume(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	disk := d.volume("pvc-1", emulatortest.Immediate)
	if disk.Labels[cloud.LabelClusterUUID] != cluster || disk.Labels[cloud.LabelManagedBy] != "deckhouse" || disk.Labels[cloud.LabelDisk] != "pvc-1" {
		t.Errorf("got labels %v, want those by which it is found", disk.Labels)
	}
	if late := d.volume("pvc-late", emulatortest.Late); late.Status.Phase != v1alpha2.DiskPhaseWaitForConsumer || late.Status.Capacity != "" {
		t.Errorf("got %s with capacity %q, want a disk that waits", late.Status.Phase, late.Status.Capacity)
	}
	again := d.volume("pvc-1", emulatortest.Immediate)
	late := d.volume("pvc-late", emulatortest.Late) // whose capacity is empty
	if again.UID != disk.UID || late.Status.Capacity != "" {
		t.Error("a repeated call made another disk")
	}
	manyNodes := createRequest("pvc-2", emulatortest.Immediate, 1<<30)
	manyNodes.VolumeCapabilities[0].AccessMode.Mode = csipb.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	foreign := d.Disk("foreign", emulatortest.Immediate, "1Gi")
	d.Make(foreign)
	for name, c := range map[string]struct {
		request *csipb.CreateVolumeRequest
		code    codes.Code
		words   string
	}{
		"another size":  {createRequest("pvc-1", emulatortest.Immediate, 2<<30), codes.AlreadyExists, "bytes"},
		"another class": {createRequest("pvc-1", emulatortest.Late, 1<<30), codes.AlreadyExists, "another storage class"},
		"not ours":      {createRequest("foreign", emulatortest.Immediate, 1<<30), codes.AlreadyExists, "not of this cluster"},
		"no class":      {createRequest("pvc-2", "", 1<<30), codes.InvalidArgument, parameterClass},
		"many nodes":    {manyNodes, codes.InvalidArgument, "MULTI_NODE_MULTI_WRITER"},
		"negative size": {createRequest("pvc-2", emulatortest.Immediate, -1), codes.InvalidArgument, "negative"},
		"unknown class": {createRequest("pvc-2", "nothing", 1<<30), codes.Internal, "StorageClass"},
	} {
		_, err := d.controller.CreateVolume(t.Context(), c.request)
		wantCode(t, name, err, c.code, c.words)
	}
	d.AwaitGone(&v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "pvc-2"}}) // what could not be had is not left behind
}

func (d *driver) quota(storage string) *corev1.ResourceQuota {
	d.t.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.storage": resource.MustParse(storage)}}}
	d.Make(quota)
	return emulatortest.Await(d.DVP, quota, "a judged quota", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) > 0 })
}

func TestQuota(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.quota("2Gi") // the node's own disk takes one
	_, err := d.controller.CreateVolume(t.Context(), createRequest("large", emulatortest.Immediate, 5<<30))
	wantCode(t, "create", err, codes.ResourceExhausted, "exceeded quota")
	d.AwaitGone(&v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "large"}})
	d.volume("small", emulatortest.Immediate)
	_, err = d.controller.ControllerExpandVolume(t.Context(), &csipb.ControllerExpandVolumeRequest{VolumeId: "small", CapacityRange: &csipb.CapacityRange{RequiredBytes: 5 << 30}})
	wantCode(t, "expand", err, codes.ResourceExhausted, "exceeded quota")
}

func TestExpandVolume(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	expand := func(capability *csipb.VolumeCapability, size int64) *csipb.ControllerExpandVolumeResponse {
		t.Helper()
		got, err := d.controller.ControllerExpandVolume(t.Context(), &csipb.ControllerExpandVolumeRequest{
			VolumeId: "pvc-1", CapacityRange: &csipb.CapacityRange{RequiredBytes: size}, VolumeCapability: capability,
		})
		if err != nil {
			t.Fatalf("expand to %d: %v", size, err)
		}
		return got
	}
	d.volume("pvc-1", emulatortest.Immediate)
	if got := expand(asFiles(""), 2<<30); got.CapacityBytes != 2<<30 || !got.NodeExpansionRequired {
		t.Errorf("detached: got %v", got)
	}
	if _, err := d.controller.ControllerPublishVolume(t.Context(), publishRequest("pvc-1", "node")); err != nil {
		t.Fatal(err)
	}
	generation := d.disk("pvc-1").Generation
	if got := expand(asBlock(), 2<<30); got.CapacityBytes != 2<<30 || got.NodeExpansionRequired || d.disk("pvc-1").Generation != generation {
		t.Errorf("equal size: got %v, want nothing done", got)
	}
	if got := expand(asFiles(""), 3<<30); got.CapacityBytes != 3<<30 || d.disk("pvc-1").Status.Capacity != "3Gi" {
		t.Errorf("attached: got %v", got)
	}
}

func TestPublish(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.addNode("other")
	disk := d.volume("pvc-1", emulatortest.Late)
	for range 2 {
		got, err := d.controller.ControllerPublishVolume(t.Context(), publishRequest("pvc-1", "node"))
		if err != nil || got.PublishContext[contextSerial] != v1alpha2.DiskSerial(disk.UID) {
			t.Fatalf("publish: got %v, %v", got, err)
		}
		attachment := &cloud.Attachment{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "vmbda-pvc-1-node"}}
		if err := d.Get(t.Context(), client.ObjectKeyFromObject(attachment), attachment); err != nil || attachment.Status.Phase != v1alpha2.AttachmentPhaseAttached {
			t.Fatalf("got %s, %v, want it attached before the answer", attachment.Status.Phase, err)
		}
	}
	_, err := d.controller.ControllerPublishVolume(t.Context(), publishRequest("pvc-1", "other"))
	wantCode(t, "attached elsewhere", err, codes.FailedPrecondition, `machine "node-a1b2c3"`)
	_, err = d.controller.DeleteVolume(t.Context(), &csipb.DeleteVolumeRequest{VolumeId: "pvc-1"})
	wantCode(t, "delete while attached", err, codes.FailedPrecondition, "attached")
	_, err = d.controller.ControllerPublishVolume(t.Context(), publishRequest("pvc-1", "nobody"))
	wantCode(t, "unknown node", err, codes.NotFound, "nobody")

	d.Knob(emulator.AnnotationDelays, "detach=500ms")
	for range 2 { // the second finds nothing
		if _, err := d.controller.ControllerUnpublishVolume(t.Context(), &csipb.ControllerUnpublishVolumeRequest{VolumeId: "pvc-1", NodeId: "node"}); err != nil {
			t.Fatal(err)
		}
		vm := &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "node-a1b2c3"}}
		if err := d.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil || len(vm.Status.BlockDeviceRefs) != 1 {
			t.Fatalf("got devices %v, %v, want the disk gone before the answer", vm.Status.BlockDeviceRefs, err)
		}
	}
	for _, node := range []string{"nobody", ""} {
		if _, err := d.controller.ControllerUnpublishVolume(t.Context(), &csipb.ControllerUnpublishVolumeRequest{VolumeId: "pvc-1", NodeId: node}); err != nil {
			t.Errorf("unpublish from %q: %v", node, err)
		}
	}
	if _, err := d.controller.ControllerPublishVolume(t.Context(), publishRequest("pvc-1", "other")); err != nil {
		t.Errorf("publish elsewhere after that: %v", err)
	}
}

func TestFailedAttachmentIsMadeAnew(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	disk := d.volume("pvc-1", emulatortest.Immediate)
	d.Change(disk, func(o client.Object) {
		o.SetAnnotations(map[string]string{emulator.AnnotationFaults: emulator.FaultNotOnNode})
	})
	_, err := d.controller.ControllerPublishVolume(t.Context(), publishRequest("pvc-1", "node"))
	wantCode(t, "not on the node", err, codes.Internal, "DeviceNotAvailableOnNode")
	d.Change(disk, func(o client.Object) { o.SetAnnotations(nil) })
	d.Eventually("it is published after all", func(ctx context.Context) bool {
		_, err := d.controller.ControllerPublishVolume(ctx, publishRequest("pvc-1", "node"))
		return err == nil
	})
}

func TestTooManyDevices(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	info, err := d.node.NodeGetInfo(t.Context(), &csipb.NodeGetInfoRequest{})
	if err != nil || info.NodeId != "node" || info.MaxVolumesPerNode != 15 {
		t.Fatalf("got %v, %v, want node with room for 15", info, err)
	}
	for i := range info.MaxVolumesPerNode {
		name := "pvc-" + string(rune('a'+i))
		d.Make(d.Disk(name, emulatortest.Immediate, "1Gi"))
		d.Make(d.Attachment(name, "node-a1b2c3", name))
	}
	d.volume("last", emulatortest.Immediate)
	_, err = d.controller.ControllerPublishVolume(t.Context(), publishRequest("last", "node"))
	wantCode(t, "one more", err, codes.ResourceExhausted, "16 devices")
}

func TestPublishEndsWithItsTime(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.volume("pvc-1", emulatortest.Immediate)
	d.Knob(emulator.AnnotationFaults, emulator.FaultStuckAttaching)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := d.controller.ControllerPublishVolume(ctx, publishRequest("pvc-1", "node"))
	wantCode(t, "stuck", err, codes.DeadlineExceeded, "")
}

func TestDeleteVolume(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	disk := d.volume("pvc-1", emulatortest.Immediate)
	for range 2 {
		if _, err := d.controller.DeleteVolume(t.Context(), &csipb.DeleteVolumeRequest{VolumeId: "pvc-1"}); err != nil {
			t.Fatal(err)
		}
		if err := d.Get(t.Context(), client.ObjectKeyFromObject(disk), disk); client.IgnoreNotFound(err) != nil || err == nil {
			t.Fatalf("got %v, want it gone before the answer", err)
		}
	}
	d.Make(d.Disk("foreign", emulatortest.Immediate, "1Gi"))
	_, err := d.controller.DeleteVolume(t.Context(), &csipb.DeleteVolumeRequest{VolumeId: "foreign"})
	wantCode(t, "not ours", err, codes.FailedPrecondition, "not of this cluster")
}

// What is not known is never taken for gone: a DVP that answers with errors keeps all it has.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.volume("pvc-1", emulatortest.Immediate)
	config := rest.CopyConfig(d.Config)
	config.Wrap(func(http.RoundTripper) http.RoundTripper { return refusing{} })
	c, err := cloud.New(config, d.Namespace, cluster)
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&Identity{Cloud: c}).Probe(t.Context(), &csipb.ProbeRequest{})
	wantCode(t, "probe", err, codes.FailedPrecondition, "")
	broken := &Controller{Cloud: c}
	_, err = broken.DeleteVolume(t.Context(), &csipb.DeleteVolumeRequest{VolumeId: "pvc-1"})
	wantCode(t, "delete", err, codes.Unavailable, "")
	_, err = broken.ControllerUnpublishVolume(t.Context(), &csipb.ControllerUnpublishVolumeRequest{VolumeId: "pvc-1", NodeId: "node"})
	wantCode(t, "unpublish", err, codes.Unavailable, "")
	if d.disk("pvc-1").DeletionTimestamp != nil {
		t.Error("the disk is being deleted")
	}
}

// refusing answers every request as a proxy before a DVP that is gone: 404, of nothing in particular.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// A detach that was held up must not undo the attachment that was made since, though it has the
// same name.
func TestStaleDetach(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.volume("pvc-1", emulatortest.Immediate)
	publish := func() cloud.Attachment {
		t.Helper()
		if _, err := d.controller.ControllerPublishVolume(t.Context(), publishRequest("pvc-1", "node")); err != nil {
			t.Fatal(err)
		}
		all, err := d.controller.Cloud.Attachments(t.Context(), cloud.OfDisk("pvc-1"))
		if err != nil || len(all) != 1 {
			t.Fatalf("got %v, %v, want one attachment", all, err)
		}
		return all[0]
	}
	old := publish()
	if _, err := d.controller.ControllerUnpublishVolume(t.Context(), &csipb.ControllerUnpublishVolumeRequest{VolumeId: "pvc-1", NodeId: "node"}); err != nil {
		t.Fatal(err)
	}
	newer := publish()
	if err := d.controller.Cloud.Detach(t.Context(), &old); !cloud.Is(err, cloud.Conflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	if again := publish(); again.UID != newer.UID || old.UID == newer.UID || !again.DeletionTimestamp.IsZero() {
		t.Errorf("got attachment %s, want %s untouched", again.UID, newer.UID)
	}
}
