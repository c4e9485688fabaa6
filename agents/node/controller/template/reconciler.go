package template

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
)

// Reconciler follows the template on one node at a time.
type Reconciler struct{ Client client.Client }

// Reconcile writes the node once, and only if something has to change.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	node := new(corev1.Node)
	if err := r.Client.Get(ctx, request.NamespacedName, node); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	group := new(v1.NodeGroup)
	if err := r.Client.Get(ctx, client.ObjectKey{Name: node.Labels[api.LabelGroup]}, group); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := node.DeepCopy()
	if err := Apply(node, group); err != nil {
		return ctrl.Result{}, err
	}
	if equality.Semantic.DeepEqual(before, node) {
		return ctrl.Result{}, nil
	}
	// Taints are one list, so a node that changed meanwhile is read again rather than overwritten.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, node, patch); err != nil {
		return ctrl.Result{}, fmt.Errorf("apply template to node %s: %w", node.Name, err)
	}
	return ctrl.Result{}, nil
}

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager) error {
	r := &Reconciler{manager.GetClient()}
	err := ctrl.NewControllerManagedBy(manager).Named("node-template").For(&corev1.Node{}).
		Watches(&v1.NodeGroup{}, handler.EnqueueRequestsFromMapFunc(r.nodesOf)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up node templates: %w", err)
	}
	return nil
}

// nodesOf asks for the nodes of a group that changed. Nodes that cannot be listed now are looked
// at with their own next change.
func (r *Reconciler) nodesOf(ctx context.Context, group client.Object) []reconcile.Request {
	nodes := new(corev1.NodeList)
	if r.Client.List(ctx, nodes, client.MatchingLabels{api.LabelGroup: group.GetName()}) != nil {
		return nil
	}
	var all []reconcile.Request
	for _, node := range nodes.Items {
		all = append(all, reconcile.Request{NamespacedName: client.ObjectKey{Name: node.Name}})
	}
	return all
}
