package drain

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"commander/internal/clock"
)

// Setup adds the controller to a manager. ctx is the life of the manager: drains end with it.
func Setup(ctx context.Context, m ctrl.Manager, c clock.Clock, registry prometheus.Registerer) error {
	background, cancel := context.WithCancel(ctx)
	r := New(m.GetClient(), m.GetAPIReader(), background, c, registry)
	err := m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		cancel()
		r.tasks.wait()
		return nil
	}))
	if err != nil {
		cancel()
		return fmt.Errorf("set up drains: %w", err)
	}
	err = ctrl.NewControllerManagedBy(m).Named("node-draining").For(&corev1.Node{}).
		WatchesRawSource(source.Channel(r.ended, &handler.EnqueueRequestForObject{})).
		Complete(r)
	if err != nil {
		cancel()
		return fmt.Errorf("set up drains: %w", err)
	}
	return nil
}
