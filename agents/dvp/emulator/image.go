package emulator

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// images provides VirtualImages and ClusterVirtualImages. Nothing is fetched: an image's size is
// what its annotation says.
type images[T client.Object] struct {
	*world
	name   string
	make   func() T
	status func(T) *v1alpha2.ImageStatus
	source func(T) v1alpha2.ImageDataSource
}

func (r images[T]) setup(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(r.make()).Named(r.name).Complete(r)
}

func (r images[T]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	image := r.make()
	if err := r.Get(ctx, req.NamespacedName, image); err != nil || !image.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := image.DeepCopyObject().(client.Object)
	status, took := r.status(image), r.delays(ctx, image).Provision
	status.ObservedGeneration = image.GetGeneration()
	var result ctrl.Result
	switch left := r.timers.left(image.GetUID(), "provision", took); {
	case status.Phase == v1alpha2.ImagePhaseReady:
	case r.faulty(ctx, image, FaultProvisioningFailed):
		status.Phase = v1alpha2.ImagePhaseFailed
		set(&status.Conditions, image, v1alpha2.ImageReadyCondition, false, v1alpha2.DiskProvisioningFailed, "the emulator was told to fail")
	case left > 0:
		status.Phase, status.Progress, result = v1alpha2.ImagePhaseProvisioning, progress(left, took), step(left, took)
		set(&status.Conditions, image, v1alpha2.ImageReadyCondition, false, v1alpha2.DiskProvisioning, "")
	default:
		size, err := resource.ParseQuantity(image.GetAnnotations()[AnnotationSize])
		if err != nil {
			size = resource.MustParse("1Gi")
		}
		_, iso := image.GetAnnotations()[AnnotationCDROM]
		source := r.source(image)
		status.CDROM = iso || source.HTTP != nil && strings.HasSuffix(source.HTTP.URL, ".iso")
		status.Format = map[bool]string{true: "iso", false: "qcow2"}[status.CDROM]
		bytes := strconv.FormatInt(size.Value(), 10)
		status.Size = v1alpha2.ImageSize{Stored: size.String(), StoredBytes: bytes, Unpacked: size.String(), UnpackedBytes: bytes}
		status.Phase, status.Progress = v1alpha2.ImagePhaseReady, "100%"
		set(&status.Conditions, image, v1alpha2.ImageReadyCondition, true, "Ready", "")
	}
	return result, r.write(ctx, before, image)
}

func projectImages(w *world) images[*v1alpha2.VirtualImage] {
	return images[*v1alpha2.VirtualImage]{
		w, "image", func() *v1alpha2.VirtualImage { return new(v1alpha2.VirtualImage) },
		func(i *v1alpha2.VirtualImage) *v1alpha2.ImageStatus { return &i.Status },
		func(i *v1alpha2.VirtualImage) v1alpha2.ImageDataSource { return i.Spec.DataSource },
	}
}

func clusterImages(w *world) images[*v1alpha2.ClusterVirtualImage] {
	return images[*v1alpha2.ClusterVirtualImage]{
		w, "cluster-image", func() *v1alpha2.ClusterVirtualImage { return new(v1alpha2.ClusterVirtualImage) },
		func(i *v1alpha2.ClusterVirtualImage) *v1alpha2.ImageStatus { return &i.Status },
		func(i *v1alpha2.ClusterVirtualImage) v1alpha2.ImageDataSource { return i.Spec.DataSource },
	}
}

// imageOf finds the image that a disk or device refers to. It is nil if there is none.
func imageOf(ctx context.Context, c client.Reader, namespace, kind, name string) (*v1alpha2.ImageStatus, error) {
	switch kind {
	case v1alpha2.KindVirtualImage:
		image := new(v1alpha2.VirtualImage)
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, image); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		return &image.Status, nil
	case v1alpha2.KindClusterVirtualImage:
		image := new(v1alpha2.ClusterVirtualImage)
		if err := c.Get(ctx, client.ObjectKey{Name: name}, image); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		return &image.Status, nil
	}
	return nil, fmt.Errorf("find %s %s: the emulator knows no such images", kind, name)
}
