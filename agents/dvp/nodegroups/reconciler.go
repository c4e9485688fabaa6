package nodegroups

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configuration "commander/agents/dvp/api/configuration/v1alpha1"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
)

// Reconciler keeps what Cluster API is asked for.
type Reconciler struct {
	client.Client
	Live        client.Reader // Secrets are not kept in memory
	Events      events.EventRecorder
	ClusterUUID string
	Prefix      string // begins names of MachineDeployments; may be empty
}

// Setup adds the controller to a manager.
func (r *Reconciler) Setup(m ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		groups, err := r.groups(ctx)
		if err != nil {
			return nil // from the cache, where it cannot fail
		}
		requests := make([]reconcile.Request, 0, len(groups))
		for _, g := range groups {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: g.name}})
		}
		return requests
	})
	ofGroup := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		name := o.GetLabels()[labelGroup]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
	})
	return ctrl.NewControllerManagedBy(m).Named("nodegroup").For(objectOf(groupKind)).
		Watches(&configuration.DVPInstanceClass{}, all).
		Watches(objectOf(deploymentKind), ofGroup).Watches(objectOf(setKind), ofGroup).
		Watches(&v1alpha1.DeckhouseMachineTemplate{}, ofGroup).Complete(r)
}

func (r *Reconciler) groups(ctx context.Context) ([]*group, error) {
	list := new(unstructured.UnstructuredList)
	list.SetGroupVersionKind(groupKind)
	if err := r.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list NodeGroups: %w", err)
	}
	var all []*group
	for i := range list.Items {
		g, err := read(&list.Items[i])
		if err != nil {
			return nil, err
		}
		if list.Items[i].GetDeletionTimestamp() == nil {
			all = append(all, g)
		}
	}
	return all, nil
}

// Reconcile makes what a group needs and removes what it needs no more.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if err := r.tellConsumers(ctx); err != nil {
		return ctrl.Result{}, err
	}
	o := objectOf(groupKind)
	err := r.Get(ctx, req.NamespacedName, o)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	gone := apierrors.IsNotFound(err) || o.GetDeletionTimestamp() != nil
	g := &group{name: req.Name}
	if !gone {
		if g, err = read(o); err != nil {
			return ctrl.Result{}, err
		}
	}
	if gone || !g.ordered() {
		return ctrl.Result{}, r.tidy(ctx, g.name, nil, "")
	}
	return r.order(ctx, o, g)
}

// order asks Cluster API for the machines of a group. While something that it needs is missing, what
// is there stays as it is.
func (r *Reconciler) order(ctx context.Context, o *unstructured.Unstructured, g *group) (ctrl.Result, error) {
	s, err := readSettings(ctx, r.Live)
	if err != nil {
		return ctrl.Result{}, err
	}
	class, name := new(configuration.DVPInstanceClass), g.Spec.CloudInstances.ClassReference.Name
	if err := r.Get(ctx, client.ObjectKey{Name: name}, class); apierrors.IsNotFound(err) {
		r.Events.Eventf(o, nil, corev1.EventTypeWarning, "NoClass", "Order", "there is no DVPInstanceClass %q; no machine is made or replaced until there is", name)
		return ctrl.Result{}, nil // its arrival is watched
	} else if err != nil {
		return ctrl.Result{}, err
	}
	if s.class == "" && class.Spec.RootDisk.StorageClass == "" {
		r.Events.Eventf(o, nil, corev1.EventTypeWarning, "NoStorageClass", "Order", "DVPInstanceClass %q names no storageClass for the root disk, and DVP has no default one", name)
		return ctrl.Result{RequeueAfter: scriptPause}, nil
	}
	template, sum, err := templateOf(g.name, &class.Spec, s)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.script(ctx, g, s); err != nil {
		r.Events.Eventf(o, nil, corev1.EventTypeWarning, "NoScript", "Order", "%v", err)
		return ctrl.Result{}, err
	}
	if err := r.apply(ctx, template.DeepCopy(), func(o client.Object) error {
		o.(*v1alpha1.DeckhouseMachineTemplate).Spec = template.Spec
		return nil
	}); err != nil {
		return ctrl.Result{}, err
	}
	var names []string
	for _, zone := range g.zones(s.zones) {
		d := objectOf(deploymentKind)
		d.SetNamespace(Namespace)
		d.SetName(deploymentName(r.Prefix, g.name, r.ClusterUUID, zone))
		names = append(names, d.GetName())
		if err := r.apply(ctx, d, func(o client.Object) error {
			return g.deployment(o.(*unstructured.Unstructured), zone, template.Name, sum, s)
		}); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{RequeueAfter: scriptPause}, r.tidy(ctx, g.name, names, template.Name)
}

// script hands the node manager's script to Cluster API. It changes when its token ends.
func (r *Reconciler) script(ctx context.Context, g *group, s *settings) error {
	source := new(corev1.Secret)
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: scriptPrefix + g.name}, source); err != nil {
		return fmt.Errorf("read the script for new machines: %w", err)
	}
	if len(source.Data[scriptKey]) == 0 {
		return fmt.Errorf("read the script for new machines: Secret %s has no key %s", source.Name, scriptKey)
	}
	wanted, err := bootstrapOf(g.name, source.Data[scriptKey], s.sshKey)
	if err != nil {
		return err
	}
	return r.apply(ctx, wanted.DeepCopy(), func(o client.Object) error {
		secret := o.(*corev1.Secret)
		secret.Labels, secret.Data = wanted.Labels, wanted.Data
		return nil
	})
}

// apply makes an object or changes the one of its name, if something differs.
func (r *Reconciler) apply(ctx context.Context, o client.Object, change func(client.Object) error) error {
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(o), o)
	if apierrors.IsNotFound(err) {
		if err := change(o); err != nil {
			return fmt.Errorf("write %s: %w", o.GetName(), err)
		}
		return r.Create(ctx, o)
	} else if err != nil {
		return err
	}
	before := o.DeepCopyObject()
	if err := change(o); err != nil {
		return fmt.Errorf("write %s: %w", o.GetName(), err)
	}
	if apiequality.Semantic.DeepEqual(before, o) {
		return nil
	}
	return r.Update(ctx, o)
}

// tellConsumers writes down which groups use a class.
func (r *Reconciler) tellConsumers(ctx context.Context) error {
	groups, err := r.groups(ctx)
	if err != nil {
		return err
	}
	var classes configuration.DVPInstanceClassList
	if err := r.List(ctx, &classes); err != nil {
		return fmt.Errorf("list classes: %w", err)
	}
	for i := range classes.Items {
		class := &classes.Items[i]
		var names []string
		for _, g := range groups {
			if g.ordered() && g.Spec.CloudInstances.ClassReference.Name == class.Name {
				names = append(names, g.name)
			}
		}
		slices.Sort(names)
		if slices.Equal(names, class.Status.NodeGroupConsumers) {
			continue
		}
		before := class.DeepCopy()
		class.Status.NodeGroupConsumers = names
		if err := r.Status().Patch(ctx, class, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("tell who uses %s: %w", class.Name, err)
		}
	}
	return nil
}
