// Package bashiblelock freezes what nodes are told while a new version of bashible-api-server
// rolls out: an old replica must not render what was written for the new one.
package bashiblelock

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"commander/agents/node/api"
	"commander/agents/node/bashible/input"
)

// Name is that of the controller.
const Name = "bashible-apiserver-lock"

// Deployment is the name of that of bashible-api-server.
const Deployment = "bashible-apiserver"

// Reconciler keeps the lock as the rollout is.
type Reconciler struct {
	Client client.Client
	Locked prometheus.Gauge
}

// NewGauge is 1 while locked; an alert fires if that lasts.
func NewGauge() prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "d8_bashible_apiserver_locked", Help: "1 while configurations of nodes are frozen because bashible-api-server rolls out.",
	})
}

// Reconcile locks or unlocks the context; without a Deployment nothing rolls.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	d := new(appsv1.Deployment)
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: Deployment}, d)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("get deployment of bashible-api-server: %w", err)
	}
	lock := err == nil && rolling(d)
	secret := new(corev1.Secret)
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: input.Secret}, secret); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) // it is locked when it appears
	}
	if locked := secret.Annotations[input.AnnotationLocked] == "true"; locked != lock {
		var value any // null removes the annotation
		if lock {
			value = "true"
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{input.AnnotationLocked: value}}})
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("write lock: %w", err)
		}
		if err := r.Client.Patch(ctx, secret, client.RawPatch("application/merge-patch+json", patch)); err != nil {
			return ctrl.Result{}, fmt.Errorf("set lock to %t: %w", lock, err)
		}
	}
	r.Locked.Set(0)
	if lock {
		r.Locked.Set(1)
	}
	return ctrl.Result{}, nil
}

// rolling says that pods of an older version are or will be there beside new ones. It does not ask
// whether the new pods are ready: what they are to serve may be what is locked.
func rolling(d *appsv1.Deployment) bool {
	s := d.Status
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	return s.ObservedGeneration < d.Generation || s.UpdatedReplicas < wanted || s.Replicas > s.UpdatedReplicas
}

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager, metrics prometheus.Registerer) error {
	r := &Reconciler{manager.GetClient(), NewGauge()}
	if err := metrics.Register(r.Locked); err != nil {
		return fmt.Errorf("register metric of lock: %w", err)
	}
	// The name of the one object to look at, whatever changed.
	look := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		if o.GetNamespace() != api.Namespace || (o.GetName() != input.Secret && o.GetName() != Deployment) {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: api.Namespace, Name: input.Secret}}}
	})
	err := ctrl.NewControllerManagedBy(manager).Named(Name).
		Watches(&corev1.Secret{}, look).Watches(&appsv1.Deployment{}, look).Complete(r)
	if err != nil {
		return fmt.Errorf("set up lock of bashible-api-server: %w", err)
	}
	return nil
}
