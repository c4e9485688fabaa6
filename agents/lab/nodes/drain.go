package nodes

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const mergePatch = types.MergePatchType

// drainLimit is how long a disruption budget may keep a pod on a node that is to go.
const drainLimit = 15 * time.Second

// drain evicts the pods of a node and tells how many there were. What a disruption budget keeps
// beyond the limit is deleted: the machine goes away.
func drain(ctx context.Context, client kubernetes.Interface, node string) (int, error) {
	limit, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	evicted := map[types.UID]bool{}
	for {
		left, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		if err != nil {
			return 0, fmt.Errorf("list pods of node %s: %w", node, err)
		}
		leaving := slices.DeleteFunc(left.Items, ofDaemonSet)
		if len(leaving) == 0 {
			return len(evicted), nil
		}
		for _, pod := range leaving {
			evicted[pod.UID] = true
			if err := send(ctx, client, pod, limit.Err() != nil); err != nil {
				return 0, err
			}
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("drain node %s: %w", node, ctx.Err())
		case <-ticker.C:
		}
	}
}

// ofDaemonSet tells that a pod belongs to its node: its controller would bring it back at once.
func ofDaemonSet(pod corev1.Pod) bool {
	owner := metav1.GetControllerOf(&pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// sweep deletes what is left on a node that is gone, without grace: nobody plays it any more.
func sweep(ctx context.Context, client kubernetes.Interface, node string) error {
	left, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return fmt.Errorf("list pods of node %s: %w", node, err)
	}
	for _, pod := range left.Items {
		err := client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// send asks a pod to go; by force it is deleted whatever its disruption budget says.
func send(ctx context.Context, client kubernetes.Interface, pod corev1.Pod, force bool) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	var err error
	if force {
		err = client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	} else {
		err = client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		})
	}
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsTooManyRequests(err) {
		return nil
	}
	return fmt.Errorf("evict pod %s/%s: %w", pod.Namespace, pod.Name, err)
}
