package capdvp

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
)

// controlPlanes keeps DeckhouseControlPlanes: whoever can ask for one runs in a cluster that has its
// control plane already.
type controlPlanes struct{ *Provider }

func (r controlPlanes) setup(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(&v1alpha1.DeckhouseControlPlane{}).
		WithOptions(r.options()).Named("deckhousecontrolplane").Complete(r)
}

func (r controlPlanes) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cp := new(v1alpha1.DeckhouseControlPlane)
	if err := r.Get(ctx, req.NamespacedName, cp); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	owner, err := readCluster(ctx, r, cp.Namespace, ownerName(cp, "Cluster"))
	if err != nil || !owner.exists || paused(cp, owner) {
		return ctrl.Result{}, err
	}
	before := cp.DeepCopy()
	cp.Status = v1alpha1.DeckhouseControlPlaneStatus{
		Ready: true, Initialized: true, ExternalManagedControlPlane: true,
		Initialization: &v1alpha1.ControlPlaneInitialization{ControlPlaneInitialized: new(true)},
	}
	return ctrl.Result{}, r.writeStatus(ctx, before, cp)
}
