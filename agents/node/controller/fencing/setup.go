package fencing

import (
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"commander/agents/node/api"
	"commander/internal/clock"
)

// Name of the controller, in logs and metrics.
const Name = "node-fencing"

// Setup adds the controller to a manager, whose scheme must know nodes and NodeGroups. It may
// write only while the manager leads.
func Setup(manager ctrl.Manager, c clock.Clock, log *slog.Logger) error {
	r := &Reconciler{Client: manager.GetClient(), Direct: manager.GetAPIReader(), Clock: c, Log: log}
	labeled := predicate.NewPredicateFuncs(func(object client.Object) bool {
		_, fenced := object.GetLabels()[api.LabelFencingEnabled]
		return fenced
	})
	err := ctrl.NewControllerManagedBy(manager).Named(Name).
		For(&corev1.Node{}, builder.WithPredicates(labeled)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up controller %s: %w", Name, err)
	}
	return nil
}
