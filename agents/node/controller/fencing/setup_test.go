package fencing

import (
	"context"
	"log/slog"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"commander/agents/node/api/apitest"
	"commander/internal/clock"
)

// The controller takes part in an election, follows real nodes and ends when it is told to.
func TestControllerLeadsAndEnds(t *testing.T) {
	t.Parallel()
	settings, c := apitest.Start(t)
	manager, err := ctrl.NewManager(settings, ctrl.Options{
		Scheme: apitest.Scheme(t), Metrics: metricsserver.Options{BindAddress: "0"}, LeaderElection: true,
		LeaderElectionID: "fencing-controller.deckhouse.io", LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Setup(manager, clock.System{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- manager.Start(ctx) }()
	leader := func(ctx context.Context) string {
		lease := new(coordinationv1.Lease)
		if c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "fencing-controller.deckhouse.io"}, lease) != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	apitest.Eventually(t, "it leads", func(ctx context.Context) bool { return leader(ctx) != "" })
	if !manager.GetCache().WaitForCacheSync(ctx) {
		t.Error("nodes cannot be followed")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if holder := leader(t.Context()); holder != "" {
		t.Errorf("%s still leads after its end", holder)
	}
}
