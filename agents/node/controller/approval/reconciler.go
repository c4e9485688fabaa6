package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha2"
	"commander/agents/node/controller/groupstatus"
	"commander/agents/node/controller/kube"
	"commander/internal/clock"
)

// windowEvery is the pause after which a group is looked at again while a node waits for a window.
const windowEvery = time.Minute

// Reconciler takes the next steps of one group at a time.
type Reconciler struct {
	Client client.Client
	// Direct asks the API server itself: by a cache that lags the same slot could be given twice.
	Direct client.Reader
	Clock  clock.Clock
}

// Reconcile plans from what is there now and takes the steps of one phase.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	group := new(v1.NodeGroup)
	if err := r.Client.Get(ctx, request.NamespacedName, group); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	nodes := new(corev1.NodeList)
	if err := r.Direct.List(ctx, nodes, client.MatchingLabels{api.LabelGroup: group.Name}); err != nil {
		return ctrl.Result{}, fmt.Errorf("list nodes of group %s: %w", group.Name, err)
	}
	checksum, err := kube.Checksum(ctx, r.Client, group.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	host, err := r.deckhouse(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	view := View{Group: group, Nodes: nodes.Items, Checksum: checksum, Deckhouse: host, Now: r.Clock.Now()}
	var problems []error
	for _, step := range Plan(view) {
		problems = append(problems, r.take(ctx, step))
	}
	for i := range view.Nodes {
		if has(&view.Nodes[i], api.UpdateDisruptionRequired) || has(&view.Nodes[i], api.UpdateRolling) {
			return ctrl.Result{RequeueAfter: windowEvery}, errors.Join(problems...)
		}
	}
	return ctrl.Result{}, errors.Join(problems...)
}

// deckhouse finds the node of the pod that runs the controllers; empty if there is none.
func (r *Reconciler) deckhouse(ctx context.Context) (string, error) {
	pods := new(corev1.PodList)
	if err := r.Direct.List(ctx, pods, client.InNamespace("d8-system"), client.MatchingLabels{"app": "deckhouse"}); err != nil {
		return "", fmt.Errorf("list pods of deckhouse: %w", err)
	}
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning {
			return pod.Spec.NodeName, nil
		}
	}
	return "", nil
}

// take changes the node as it was planned for; a node that has changed since is left for the
// next time.
func (r *Reconciler) take(ctx context.Context, s Step) error {
	if s.Replace {
		instance := &v1alpha2.Instance{ObjectMeta: metav1.ObjectMeta{Name: s.Node.Name}}
		if err := r.Client.Delete(ctx, instance); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete instance %s: %w", s.Node.Name, err)
		}
		return r.record(ctx, s)
	}
	annotations := map[string]any{}
	for _, key := range s.Drop {
		annotations[key] = nil
	}
	for key, value := range s.Add {
		annotations[key] = value
	}
	change := map[string]any{"metadata": map[string]any{"annotations": annotations, "resourceVersion": s.Node.ResourceVersion}}
	if s.Uncordon {
		change["spec"] = map[string]any{"unschedulable": nil}
	}
	body, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.Node.Name}}
	if err := r.Client.Patch(ctx, node, client.RawPatch(types.MergePatchType, body)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("annotate node %s: %w", s.Node.Name, err)
	}
	return r.record(ctx, s)
}

func (r *Reconciler) record(ctx context.Context, s Step) error {
	return kube.Event(ctx, r.Client, s.Node.Name, corev1.EventTypeNormal, s.Event, messages[s.Event], "update-approval", r.Clock.Now())
}

var messages = map[string]string{
	EventUpToDate:           "The node has applied the present configuration of its group",
	EventRollingUpdate:      "The node is replaced to update it",
	EventDisruptionApproved: "The node may disturb what runs on it to update itself",
	EventDraining:           "The node is drained before it may disturb what runs on it",
	EventApproved:           "The node may update itself",
}

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager, c clock.Clock) error {
	r := &Reconciler{Client: manager.GetClient(), Direct: manager.GetAPIReader(), Clock: c}
	err := ctrl.NewControllerManagedBy(manager).Named("update-approval").For(&v1.NodeGroup{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(groupstatus.GroupOf)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(groupstatus.GroupsIn)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up approval of updates: %w", err)
	}
	return nil
}
