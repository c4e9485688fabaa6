package fencing

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	agent "commander/agents/node/fencing"
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
	leases   *agent.Leases
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
	leases, err := r.look(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	view, err := r.view(ctx, node, leases)
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
	case NobodyElse, TooMany:
		r.Log.Warn("a node looks lost but is held", "node", node.Name, "reason", reason, "age", view.Age, "stale", view.Stale, "total", view.Total)
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

// look reads all Leases of nodes, unless that was done just now for another node.
func (r *Reconciler) look(ctx context.Context) (*agent.Leases, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leases == nil {
		r.leases = agent.NewLeases(r.Clock)
	}
	now := r.Clock.Now()
	if !r.looked.IsZero() && now.Sub(r.looked) < lookEvery/2 {
		return r.leases, nil
	}
	list := new(coordinationv1.LeaseList)
	if err := r.Direct.List(ctx, list, client.InNamespace(corev1.NamespaceNodeLease)); err != nil {
		r.leases.Failed()
		return nil, fmt.Errorf("list leases of nodes: %w", err)
	}
	renewed := make(map[string]time.Time, len(list.Items))
	for _, lease := range list.Items {
		if lease.Spec.RenewTime != nil {
			renewed[lease.Name] = lease.Spec.RenewTime.Time
		}
	}
	r.leases.Observe(renewed)
	r.looked = now
	return r.leases, nil
}

func (r *Reconciler) view(ctx context.Context, node *corev1.Node, leases *agent.Leases) (View, error) {
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
	v := View{Node: node, Timeout: TimeoutOf(node, group), Others: leases.OthersFresh(node.Name), Total: len(members.Items)}
	v.Age, v.Known = leases.Age(node.Name)
	for _, member := range members.Items {
		if leases.Stale(member.Name) {
			v.Stale++
		}
	}
	return v, nil
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
