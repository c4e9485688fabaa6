package capdvp

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"commander/agents/dvp/cloud"
	"commander/internal/clock"
)

// Provider is what the controllers have in common.
type Provider struct {
	client.Client
	Config *rest.Config // of the cluster that the controllers run in
	Cloud  *cloud.Cloud
	Clock  clock.Clock
	Events events.EventRecorder

	// Poll is from one look at a machine in DVP to the next, while something is to happen with it.
	Poll time.Duration
	// Patience is how long DVP may take to remove a machine or a disk before it is left behind, told
	// of in annotations. It must be more than a machine's time to shut down and the unmounting after it.
	Patience time.Duration
	// Workers is how many objects a controller looks at side by side.
	Workers int
}

// steadyPoll is from one look at a machine that runs to the next: its state in DVP is not watched.
const steadyPoll = time.Minute

// Setup adds the controllers to a manager.
func (p *Provider) Setup(m ctrl.Manager) error {
	if err := (clusters{p}).setup(m); err != nil {
		return fmt.Errorf("set up clusters: %w", err)
	}
	if err := (controlPlanes{p}).setup(m); err != nil {
		return fmt.Errorf("set up control planes: %w", err)
	}
	if err := (machines{p}).setup(m); err != nil {
		return fmt.Errorf("set up machines: %w", err)
	}
	return nil
}

func (p *Provider) options() controller.Options {
	return controller.Options{MaxConcurrentReconciles: p.Workers}
}

// writeStatus writes a status that changed.
func (p *Provider) writeStatus(ctx context.Context, before, after client.Object) error {
	if apiequality.Semantic.DeepEqual(before, after) {
		return nil
	}
	return client.IgnoreNotFound(p.Status().Patch(ctx, after, client.MergeFrom(before)))
}

// infrastructureOf names the object of ours that a Cluster or a Machine has.
func infrastructureOf(o client.Object) (string, bool) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return "", false
	}
	name, found, err := unstructured.NestedString(u.Object, "spec", "infrastructureRef", "name")
	return name, found && err == nil
}
