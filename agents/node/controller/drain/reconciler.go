package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/controller/kube"
	"commander/internal/clock"
)

const (
	defaultTimeout = 10 * time.Minute
	roundEvery     = 2 * time.Second
	messageBound   = 1024 // bytes of an error in an annotation
)

// Reasons of events.
const (
	eventSucceeded = "DrainSucceeded"
	eventFailed    = "DrainFailed"
	eventCancelled = "DrainCancelled"
)

var errTimeout = errors.New("the time for it is over")

// Reconciler follows the wish of one node at a time.
type Reconciler struct {
	Client client.Client
	Direct client.Reader
	Clock  clock.Clock
	Every  time.Duration // pause between two rounds of evictions
	// Background is the life of the drains: they go on while other nodes are looked at.
	Background context.Context
	Gauge      *prometheus.GaugeVec
	ended      chan event.GenericEvent // nodes whose drain is over
	tasks      tasks
}

// New makes a reconciler; its metric is registered with r.
func New(c client.Client, direct client.Reader, background context.Context, now clock.Clock, r prometheus.Registerer) *Reconciler {
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "d8_node_draining", Help: "1 for each node that is being drained."}, []string{"node"})
	r.MustRegister(gauge)
	return &Reconciler{
		Client: c, Direct: direct, Clock: now, Every: roundEvery, Background: background, Gauge: gauge,
		ended: make(chan event.GenericEvent, 1024),
	}
}

// Reconcile starts, ends or forgets the drain of a node.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	node := new(corev1.Node)
	if err := r.Client.Get(ctx, request.NamespacedName, node); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.forget(request.Name)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	source, wanted := node.Annotations[api.UpdateDraining]
	if !wanted {
		return ctrl.Result{}, r.idle(ctx, node)
	}
	if source == "" {
		source = api.DrainByBashible
	}
	r.Gauge.WithLabelValues(node.Name).Set(1)
	if !node.Spec.Unschedulable {
		if err := r.patch(ctx, node, nil, true); err != nil {
			return ctrl.Result{}, err
		}
	}
	known, over, err := r.tasks.result(node.Name)
	switch {
	case !known:
		return ctrl.Result{}, r.begin(ctx, node)
	case !over:
		return ctrl.Result{}, nil // its end will bring the node back
	case err != nil:
		return ctrl.Result{}, r.failed(ctx, node, err)
	}
	r.Gauge.DeleteLabelValues(node.Name)
	change := map[string]any{api.UpdateDraining: nil, api.UpdateDrainFailed: nil, api.UpdateDrained: source}
	if err := r.patch(ctx, node, change, false); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.record(ctx, node.Name, corev1.EventTypeNormal, eventSucceeded, "All pods that can leave have left the node")
}

// begin starts the drain within the time that the node's group gives it.
func (r *Reconciler) begin(ctx context.Context, node *corev1.Node) error {
	timeout, err := r.timeout(ctx, node)
	if err != nil {
		return err
	}
	e := evictor{r.Client, r.Direct, r.Every}
	drain := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
		defer cancel()
		return e.run(ctx, node.Name)
	}
	r.tasks.start(r.Background, node.Name, drain, func() {
		select {
		case r.ended <- event.GenericEvent{Object: node}:
		case <-r.Background.Done():
		}
	})
	return nil
}

func (r *Reconciler) timeout(ctx context.Context, node *corev1.Node) (time.Duration, error) {
	group := new(v1.NodeGroup)
	err := r.Client.Get(ctx, client.ObjectKey{Name: node.Labels[api.LabelGroup]}, group)
	if client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("get group of node %s: %w", node.Name, err)
	}
	return Timeout(group), nil
}

// Timeout is how long a drain of a group's node may take.
func Timeout(group *v1.NodeGroup) time.Duration {
	if seconds := group.Spec.NodeDrainTimeoutSecond; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return defaultTimeout
}

// failed writes down why. The wish stays, and the returned error brings the node back for another
// try, later each time; the node never counts as drained.
func (r *Reconciler) failed(ctx context.Context, node *corev1.Node, why error) error {
	if r.Background.Err() != nil {
		return nil // this program ends; the next one tries
	}
	message := why.Error()
	message = message[:min(len(message), messageBound)]
	err := errors.Join(
		r.patch(ctx, node, map[string]any{api.UpdateDrainFailed: message}, false),
		r.record(ctx, node.Name, corev1.EventTypeWarning, eventFailed, message),
	)
	return errors.Join(why, err)
}

// idle ends a drain that nobody wants any more and tidies up behind a person's.
func (r *Reconciler) idle(ctx context.Context, node *corev1.Node) error {
	if r.forget(node.Name) {
		if err := r.record(ctx, node.Name, corev1.EventTypeNormal, eventCancelled, "Nobody wants the node drained any more"); err != nil {
			return err
		}
	}
	change := map[string]any{}
	if _, failed := node.Annotations[api.UpdateDrainFailed]; failed {
		change[api.UpdateDrainFailed] = nil
	}
	if node.Annotations[api.UpdateDrained] == api.DrainByUser && !node.Spec.Unschedulable {
		change[api.UpdateDrained] = nil
	}
	if len(change) == 0 {
		return nil
	}
	return r.patch(ctx, node, change, false)
}

// forget ends the drain of a node, if there is one that has not come to its end.
func (r *Reconciler) forget(node string) bool {
	r.Gauge.DeleteLabelValues(node)
	return r.tasks.stop(node)
}

func (r *Reconciler) patch(ctx context.Context, node *corev1.Node, annotations map[string]any, cordon bool) error {
	change := map[string]any{"metadata": map[string]any{"annotations": annotations}}
	if cordon {
		change = map[string]any{"spec": map[string]any{"unschedulable": true}}
	}
	body, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	if err := r.Client.Patch(ctx, node, client.RawPatch(types.MergePatchType, body)); err != nil {
		return fmt.Errorf("change node %s: %w", node.Name, err)
	}
	return nil
}

func (r *Reconciler) record(ctx context.Context, node, kind, reason, message string) error {
	return kube.Event(ctx, r.Client, node, kind, reason, message, "node-draining", r.Clock.Now())
}
