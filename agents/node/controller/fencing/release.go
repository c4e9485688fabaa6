package fencing

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/controller/kube"
)

// release deletes the pods of a node at once, and the node itself if that is its way. The node
// stays while any of its pods could not be deleted; then the whole is tried again.
func (r *Reconciler) release(ctx context.Context, node *corev1.Node) error {
	pods := new(corev1.PodList)
	on := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.nodeName", node.Name)}
	if err := r.Direct.List(ctx, pods, on); err != nil {
		return fmt.Errorf("list pods of node %s: %w", node.Name, err)
	}
	var problems []error
	for i := range pods.Items {
		pod := &pods.Items[i]
		err := r.Client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
		if client.IgnoreNotFound(err) != nil {
			problems = append(problems, fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if !DeletesNode(node) {
		return r.record(ctx, node, fmt.Sprintf("The node is lost: its %d pods were released, the node is kept", len(pods.Items)))
	}
	// Told before: an event on a node that is gone would be of little use while it is not.
	if err := r.record(ctx, node, fmt.Sprintf("The node is lost: its %d pods were released and the node is deleted", len(pods.Items))); err != nil {
		return err
	}
	err := r.Client.Delete(ctx, node, client.Preconditions{UID: &node.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete node %s: %w", node.Name, err)
	}
	return nil
}

func (r *Reconciler) record(ctx context.Context, node *corev1.Node, message string) error {
	return kube.Event(ctx, r.Client, node.Name, corev1.EventTypeWarning, "NodeFenced", message, Name, r.Clock.Now())
}
