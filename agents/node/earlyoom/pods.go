package earlyoom

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// mirrorAnnotation marks what the API shows of a static pod.
const mirrorAnnotation = "kubernetes.io/config.mirror"

// Pods are the pods of a node as the API last told, also while it cannot be reached: memory is
// short just when much else does not answer.
type Pods struct {
	informer cache.SharedIndexInformer
}

// WatchPods prepares to follow the pods of a node.
func WatchPods(client kubernetes.Interface, node string) (*Pods, error) {
	selector := fields.OneTermEqualSelector("spec.nodeName", node).String()
	list := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, fields.ParseSelectorOrDie(selector))
	informer := cache.NewSharedIndexInformer(list, &corev1.Pod{}, 0, cache.Indexers{"uid": func(object any) ([]string, error) {
		return []string{string(object.(*corev1.Pod).UID)}, nil
	}})
	if err := informer.SetTransform(slim); err != nil {
		return nil, fmt.Errorf("prepare to watch pods: %w", err)
	}
	return &Pods{informer}, nil
}

// slim drops what no decision needs, so that the program stays small on nodes with many pods.
func slim(object any) (any, error) {
	pod, is := object.(*corev1.Pod)
	if !is {
		return object, nil
	}
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}}
	if value, mirror := pod.Annotations[mirrorAnnotation]; mirror {
		kept.Annotations = map[string]string{mirrorAnnotation: value}
	}
	kept.Spec.Priority = pod.Spec.Priority
	kept.Spec.Resources = pod.Spec.Resources
	for _, c := range pod.Spec.Containers {
		kept.Spec.Containers = append(kept.Spec.Containers, corev1.Container{Resources: c.Resources})
	}
	return kept, nil
}

// Run follows the pods until ctx ends.
func (p *Pods) Run(ctx context.Context) error {
	p.informer.RunWithContext(ctx)
	return nil
}

// Synced says whether the first list has arrived.
func (p *Pods) Synced() bool { return p.informer.HasSynced() }

// ByUID finds a pod and what the decision needs of it.
func (p *Pods) ByUID(uid string) (Pod, bool) {
	found, err := p.informer.GetIndexer().ByIndex("uid", uid)
	if err != nil || len(found) == 0 {
		return Pod{}, false
	}
	return describe(found[0].(*corev1.Pod)), true
}

func describe(pod *corev1.Pod) Pod {
	_, static := pod.Annotations[mirrorAnnotation]
	d := Pod{UID: string(pod.UID), Namespace: pod.Namespace, Name: pod.Name, Static: static}
	if pod.Spec.Priority != nil {
		d.Priority = *pod.Spec.Priority
	}
	for _, c := range pod.Spec.Containers {
		d.Request += uint64(max(0, c.Resources.Requests.Memory().Value()))
	}
	if whole := pod.Spec.Resources; whole != nil && !whole.Requests.Memory().IsZero() {
		d.Request = uint64(max(0, whole.Requests.Memory().Value()))
	}
	return d
}
