package capdvp

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
)

// clusters keeps DeckhouseClusters.
type clusters struct{ *Provider }

func (r clusters) setup(m ctrl.Manager) error {
	mine := func(_ context.Context, o client.Object) []reconcile.Request { // the DeckhouseCluster of a Cluster
		name, ok := infrastructureOf(o)
		if !ok {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
	}
	return ctrl.NewControllerManagedBy(m).For(&v1alpha1.DeckhouseCluster{}).
		Watches(capiObject("Cluster"), handler.EnqueueRequestsFromMapFunc(mine)).
		WithOptions(r.options()).Named("deckhousecluster").Complete(r)
}

func (r clusters) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	dc := new(v1alpha1.DeckhouseCluster)
	if err := r.Get(ctx, req.NamespacedName, dc); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	owner, err := readCluster(ctx, r, dc.Namespace, ownerName(dc, "Cluster"))
	if err != nil {
		return ctrl.Result{}, err
	}
	if paused(dc, owner) {
		return ctrl.Result{}, nil
	}
	if !dc.DeletionTimestamp.IsZero() {
		return r.remove(ctx, dc)
	}
	if !owner.exists {
		return ctrl.Result{}, nil // Cluster API has not come to it
	}
	if controllerutil.AddFinalizer(dc, v1alpha1.FinalizerCluster) {
		return ctrl.Result{}, r.Update(ctx, dc)
	}
	if dc.Spec.ControlPlaneEndpoint == nil {
		if dc.Spec.ControlPlaneEndpoint, err = endpointOf(r.Config); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, r.Update(ctx, dc)
	}
	before := dc.DeepCopy()
	dc.Status.Ready, dc.Status.Initialization = true, &v1alpha1.Initialization{Provisioned: new(true)}
	dc.Status.FailureReason, dc.Status.FailureMessage = "", ""
	return ctrl.Result{}, r.writeStatus(ctx, before, dc)
}

// remove takes all of the cluster out of DVP before the DeckhouseCluster goes.
func (r clusters) remove(ctx context.Context, dc *v1alpha1.DeckhouseCluster) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(dc, v1alpha1.FinalizerCluster) {
		return ctrl.Result{}, nil
	}
	left, err := r.Cloud.DeleteEverything(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	if left > 0 {
		return ctrl.Result{RequeueAfter: r.Poll}, nil
	}
	controllerutil.RemoveFinalizer(dc, v1alpha1.FinalizerCluster)
	return ctrl.Result{}, r.Update(ctx, dc)
}

// endpointOf is where the API server of this cluster is, as we reach it ourselves.
func endpointOf(config *rest.Config) (*v1alpha1.Endpoint, error) {
	host := config.Host // with a scheme and a path, or without
	if _, after, found := strings.Cut(host, "://"); found {
		host = after
	}
	host, _, _ = strings.Cut(host, "/")
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return nil, fmt.Errorf("find the cluster's endpoint: the API server %s must be given with its port: %w", config.Host, err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return nil, fmt.Errorf("find the cluster's endpoint: the API server %s has no valid port", config.Host)
	}
	return &v1alpha1.Endpoint{Host: name, Port: int32(number)}, nil
}
