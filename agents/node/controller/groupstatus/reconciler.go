package groupstatus

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/controller/kube"
	"commander/internal/clock"
)

// Reconciler writes the status of one group at a time.
type Reconciler struct {
	Client client.Client
	Clock  clock.Clock
}

// Reconcile computes the status and writes it only if it differs from what is there.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	group := new(v1.NodeGroup)
	if err := r.Client.Get(ctx, request.NamespacedName, group); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	nodes := new(corev1.NodeList)
	if err := r.Client.List(ctx, nodes, client.MatchingLabels{api.LabelGroup: group.Name}); err != nil {
		return ctrl.Result{}, fmt.Errorf("list nodes of group %s: %w", group.Name, err)
	}
	checksum, err := kube.Checksum(ctx, r.Client, group.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	status, again := Calculate(group, nodes.Items, checksum, r.Clock.Now())
	if equality.Semantic.DeepEqual(status, group.Status) {
		return ctrl.Result{RequeueAfter: again}, nil
	}
	group.Status = status
	// The whole status and not what differs: of a status that was never written a patch would leave
	// out the counts that are zero, which the schema wants.
	err = r.Client.Status().Update(ctx, group)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, nil // read before the last change, whose event brings us back
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("write status of group %s: %w", group.Name, err)
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager, c clock.Clock) error {
	r := &Reconciler{Client: manager.GetClient(), Clock: c}
	err := ctrl.NewControllerManagedBy(manager).Named("node-group-status").For(&v1.NodeGroup{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(GroupOf)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(GroupsIn)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up status of groups: %w", err)
	}
	return nil
}

// GroupOf asks for the group of a node that changed.
func GroupOf(_ context.Context, node client.Object) []reconcile.Request {
	name := node.GetLabels()[api.LabelGroup]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
}

// GroupsIn asks for all groups that the Secret of checksums names.
func GroupsIn(_ context.Context, object client.Object) []reconcile.Request {
	secret, is := object.(*corev1.Secret)
	if !is || secret.Name != api.ChecksumsSecret || secret.Namespace != api.Namespace {
		return nil
	}
	var all []reconcile.Request
	for name := range secret.Data {
		all = append(all, reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
	}
	return all
}
