package emulator

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// quotaPause is before what a quota refused is tried again besides each change of the quota: the API
// server may see that change later than the emulator does.
const quotaPause = time.Second

// quotas tells the API server what is used of each ResourceQuota, which then refuses what is too
// much in its own words. Quotas with scopes are not told apart.
type quotas struct{ *world }

func (r quotas) setup(m ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(everything(r.world, &corev1.ResourceQuotaList{}))
	return ctrl.NewControllerManagedBy(m).For(&corev1.ResourceQuota{}).
		Watches(&corev1.Pod{}, all).Watches(&corev1.PersistentVolumeClaim{}, all).
		Watches(&v1alpha2.VirtualMachine{}, all).Watches(&v1alpha2.VirtualDisk{}, all).
		Named("quota").Complete(r)
}

func (r quotas) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	quota := new(corev1.ResourceQuota)
	if err := r.Get(ctx, req.NamespacedName, quota); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := quota.DeepCopy()
	used := corev1.ResourceList{}
	for name := range quota.Spec.Hard {
		amount, err := r.used(ctx, quota.Namespace, name)
		if err != nil {
			return ctrl.Result{}, err
		}
		used[name] = amount
	}
	quota.Status.Hard = quota.Spec.Hard.DeepCopy()
	if !same(quota.Status.Used, used) {
		quota.Status.Used = used
	}
	return ctrl.Result{}, r.write(ctx, before, quota)
}

func same(a, b corev1.ResourceList) bool {
	for name, amount := range b {
		if has, ok := a[name]; !ok || has.Cmp(amount) != 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// used sums up one resource in a namespace, by what the API holds now: an old view would free what
// was just taken.
func (r quotas) used(ctx context.Context, namespace string, name corev1.ResourceName) (resource.Quantity, error) {
	var sum resource.Quantity
	switch key := string(name); {
	case key == "pods", key == "cpu", key == "memory", strings.HasPrefix(key, "requests.cpu"), strings.HasPrefix(key, "requests.memory"), strings.HasPrefix(key, "limits."):
		var pods corev1.PodList
		if err := r.live.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
			return sum, err
		}
		for i := range pods.Items {
			if phase := pods.Items[i].Status.Phase; phase == corev1.PodSucceeded || phase == corev1.PodFailed {
				continue
			}
			if key == "pods" {
				sum.Add(resource.MustParse("1"))
				continue
			}
			for _, c := range pods.Items[i].Spec.Containers {
				what := corev1.ResourceName(key[strings.LastIndex(key, ".")+1:])
				sum.Add(c.Resources.Requests[what]) // the emulator's limits are its requests
			}
		}
	case key == "persistentvolumeclaims", strings.HasSuffix(key, "requests.storage"), strings.HasSuffix(key, "/persistentvolumeclaims"):
		class, _, _ := strings.Cut(key, ".storageclass.storage.k8s.io/")
		var claims corev1.PersistentVolumeClaimList
		if err := r.live.List(ctx, &claims, client.InNamespace(namespace)); err != nil {
			return sum, err
		}
		for _, claim := range claims.Items {
			if class != key && (claim.Spec.StorageClassName == nil || *claim.Spec.StorageClassName != class) {
				continue
			}
			if strings.HasSuffix(key, "requests.storage") {
				sum.Add(claim.Spec.Resources.Requests[corev1.ResourceStorage])
			} else {
				sum.Add(resource.MustParse("1"))
			}
		}
	case strings.HasPrefix(key, "count/"):
		return r.count(ctx, namespace, strings.TrimPrefix(key, "count/"))
	}
	return sum, nil
}

// counted are the resources that a quota by number can be about.
var counted = map[string]schema.GroupVersionKind{
	"virtualmachines.virtualization.deckhouse.io": v1alpha2.GroupVersion.WithKind("VirtualMachineList"),
	"virtualdisks.virtualization.deckhouse.io":    v1alpha2.GroupVersion.WithKind("VirtualDiskList"),
}

func (r quotas) count(ctx context.Context, namespace, what string) (resource.Quantity, error) {
	kind, known := counted[what]
	if !known {
		return resource.Quantity{}, nil
	}
	list := new(metav1.PartialObjectMetadataList)
	list.SetGroupVersionKind(kind)
	err := r.live.List(ctx, list, client.InNamespace(namespace))
	return *resource.NewQuantity(int64(len(list.Items)), resource.DecimalSI), err
}
