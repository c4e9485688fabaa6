package kube

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Event records what happened to a node. Its UID is the node's name, as kubelet writes it: by
// that kubectl finds the events of a node.
func Event(ctx context.Context, c client.Client, node, kind, reason, message, component string, now time.Time) error {
	at := metav1.NewTime(now)
	err := c.Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: node + "-", Namespace: metav1.NamespaceDefault},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node, UID: types.UID(node)},
		Reason:         reason, Message: message, Type: kind, Count: 1,
		FirstTimestamp: at, LastTimestamp: at, Source: corev1.EventSource{Component: component},
	})
	if err != nil {
		return fmt.Errorf("record event on node %s: %w", node, err)
	}
	return nil
}
