package fencing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"commander/agents/node/api"
)

// Vouch writes down that the agent of this node can tell which nodes of its group are lost.
func (c *Cluster) Vouch(ctx context.Context) error {
	now := metav1.NewMicroTime(time.Now()) // only that it changes matters, not what it says
	return c.renew(ctx, &now)
}

// Forswear writes down that it cannot. It makes the Lease, which goes with the Node.
func (c *Cluster) Forswear(ctx context.Context, node types.UID) error {
	leases := c.Client.CoordinationV1().Leases(api.Namespace)
	_, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: api.FencingLeasePrefix + c.Node, Labels: map[string]string{"app": "fencing-agent", api.LabelGroup: c.Group},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Node", Name: c.Node, UID: node}},
	}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return c.renew(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("make lease of the agent: %w", err)
	}
	return nil
}

func (c *Cluster) renew(ctx context.Context, at *metav1.MicroTime) error {
	body, err := json.Marshal(map[string]any{"spec": map[string]any{"renewTime": at}})
	if err != nil {
		return fmt.Errorf("write lease: %w", err)
	}
	leases := c.Client.CoordinationV1().Leases(api.Namespace)
	if _, err := leases.Patch(ctx, api.FencingLeasePrefix+c.Node, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("renew lease of the agent: %w", err)
	}
	return nil
}
