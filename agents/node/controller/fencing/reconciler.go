package fencing

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/internal/clock"
)

const (
	// lookEvery is the pause between two looks at Leases, short enough that a look that is missed
	// is no gap yet.
	lookEvery = 10 * time.Second
	// waitOthers is the pause before a node is looked at again of which nothing may be expected.
	waitOthers = time.Minute
	// actBound is how long it may take to release a node after it was judged: later the judgement
	// would be old.
	actBound = 30 * time.Second
)

// Reconciler judges one node at a time and releases it if it is lost.
type Reconciler struct {
	Client client.Client // through the cache
	// Direct asks the API server itself: a cache whose watch broke would show every Lease as old.
	Direct client.Reader
	Clock  clock.Clock
	Log    *slog.Logger

	mu       sync.Mutex // protects what follows
	sight    *Sight
	looked   time.Time
	released map[string]time.Time // by node: the creation of the object that was released and kept
}

// Reconcile looks at a node and acts.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	node := new(corev1.Node)
	if err := r.Client.Get(ctx, request.NamespacedName, node); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !node.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	sight, err := r.look(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	view, err := r.view(ctx, node, sight)
	if err != nil {
		return ctrl.Result{}, err
	}
	switch reason := Judge(view); reason {
	case NotFenced:
		return ctrl.Result{}, nil // its label will bring it back
	case Maintenance:
		return ctrl.Result{RequeueAfter: waitOthers}, nil
	case NoLease, Alive:
		r.forget(node.Name)
		return ctrl.Result{RequeueAfter: lookEvery}, nil
	case NobodyElse, Early, TooMany:
		r.Log.Warn("a node looks lost but is held", "node", node.Name, "reason", reason, "age", view.Age, "stale", view.Stale, "blind", view.Blind, "total", view.Total)
		return ctrl.Result{RequeueAfter: lookEvery}, nil
	}
	if r.done(node) {
		return ctrl.Result{RequeueAfter: waitOthers}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, actBound)
	defer cancel()
	r.Log.Warn("releasing a lost node", "node", node.Name, "age", view.Age, "timeout", view.Timeout)
	if err := r.release(ctx, node); err != nil {
		return ctrl.Result{}, err
	}
	r.remember(node)
	return ctrl.Result{RequeueAfter: waitOthers}, nil
}

// look reads all Leases of nodes and agents, unless that was done just now for another node.
func (r *Reconciler) look(ctx context.Context) (*Sight, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sight == nil {
		r.sight = NewSight(r.Clock)
	}
	now := r.Clock.Now()
	if !r.looked.IsZero() && now.Sub(r.looked) < lookEvery/2 {
		return r.sight, nil
	}
	kubelets, err := r.renewals(ctx, corev1.NamespaceNodeLease, "")
	var agents map[string]time.Time
	if err == nil {
		agents, err = r.renewals(ctx, api.Namespace, api.FencingLeasePrefix)
	}
	if err != nil {
		r.sight.Failed()
		return nil, err
	}
	r.sight.Observe(kubelets, agents)
	r.looked = now
	return r.sight, nil
}

// renewals reads when Leases of a namespace were renewed, by the rest of their names after a prefix.
func (r *Reconciler) renewals(ctx context.Context, namespace, prefix string) (map[string]time.Time, error) {
	list := new(coordinationv1.LeaseList)
	if err := r.Direct.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list leases in %s: %w", namespace, err)
	}
	renewed := make(map[string]time.Time, len(list.Items))
	for _, lease := range list.Items {
		name, is := strings.CutPrefix(lease.Name, prefix)
		switch {
		case !is:
		case lease.Spec.RenewTime != nil:
			renewed[name] = lease.Spec.RenewTime.Time
		case prefix != "":
			renewed[name] = time.Time{} // an agent that cannot tell
		}
	}
	return renewed, nil
}

func (r *Reconciler) view(ctx context.Context, node *corev1.Node, sight *Sight) (View, error) {
	name := node.Labels[api.LabelGroup]
	group := new(v1.NodeGroup)
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, group); apierrors.IsNotFound(err) {
		group = nil
	} else if err != nil {
		return View{}, fmt.Errorf("get group %s: %w", name, err)
	}
	members := new(corev1.NodeList)
	if err := r.Client.List(ctx, members, client.MatchingLabels{api.LabelGroup: name}); err != nil {
		return View{}, fmt.Errorf("list nodes of group %s: %w", name, err)
	}
	return sight.View(node, group, members.Items), nil
}

func (r *Reconciler) done(node *corev1.Node) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.released[node.Name].Equal(node.CreationTimestamp.Time)
}

func (r *Reconciler) remember(node *corev1.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released == nil {
		r.released = map[string]time.Time{}
	}
	r.released[node.Name] = node.CreationTimestamp.Time
}

func (r *Reconciler) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.released, name)
}
