// Package drain empties nodes that an annotation asks to be emptied.
package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// evictor empties one node.
type evictor struct {
	client client.Client
	direct client.Reader
	every  time.Duration // pause between two rounds
}

// run evicts all pods that can leave and waits until they are gone. When ctx ends first it fails
// with the pods that are left and why. A pod is never deleted around its disruption budget.
func (e evictor) run(ctx context.Context, node string) error {
	tick := time.NewTicker(e.every)
	defer tick.Stop()
	var left []string
	for {
		pods, err := e.leaving(ctx, node)
		if err == nil && len(pods) == 0 {
			return nil
		}
		if err == nil {
			left, err = e.round(ctx, pods)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("drain node %s: %w; left: %s", node, context.Cause(ctx), strings.Join(left, "; "))
		case <-tick.C:
		}
	}
}

// round asks for the eviction of each pod that does not go yet.
func (e evictor) round(ctx context.Context, pods []corev1.Pod) (left []string, err error) {
	var problems []error
	for i := range pods {
		pod := &pods[i]
		name := pod.Namespace + "/" + pod.Name
		if !pod.DeletionTimestamp.IsZero() {
			left = append(left, name+": still ending")
			continue
		}
		err := e.client.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{
			DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
		})
		switch {
		case err == nil || apierrors.IsNotFound(err):
			left = append(left, name+": asked to go")
		case apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err) || ctx.Err() != nil:
			// A budget forbids it for now. The client waits by itself for as long as the API server
			// asks it to, so the time may be over meanwhile.
			left = append(left, name+": "+err.Error())
		default:
			problems = append(problems, fmt.Errorf("evict pod %s: %w", name, err))
		}
	}
	return left, errors.Join(problems...)
}

// leaving lists the pods of a node that a drain moves: not those of DaemonSets, which would come
// back at once, and not static ones, which only the node itself can end.
func (e evictor) leaving(ctx context.Context, node string) ([]corev1.Pod, error) {
	pods := new(corev1.PodList)
	on := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.nodeName", node)}
	if err := e.direct.List(ctx, pods, on); err != nil {
		return nil, fmt.Errorf("list pods of node %s: %w", node, err)
	}
	return slices.DeleteFunc(pods.Items, stays), nil
}

func stays(pod corev1.Pod) bool {
	if _, static := pod.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return true
	}
	owner := metav1.GetControllerOf(&pod)
	return owner != nil && owner.Kind == "DaemonSet"
}
