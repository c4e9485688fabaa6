// Package bashiblecontext tells bashible-api-server what the configuration of every node depends
// on, in one Secret.
package bashiblecontext

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/bashible/input"
	"commander/internal/clock"
)

// Name is that of the controller.
const Name = "bashible-context"

// again is how soon changes of what is not watched are seen: endpoints, package servers, tokens
// that run out.
const again = 30 * time.Second

// Reconciler writes the Secret.
type Reconciler struct {
	Client  client.Client
	Direct  client.Reader          // what lies in namespaces that are not cached
	Version func() (string, error) // of the API server, such as "1.37"
	Clock   clock.Clock
}

// Reconcile writes the Secret only if something in it changes. It leaves it as it is if anything
// cannot be read: nodes then stay as they are.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	cluster, config, err := r.readCluster(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	groups := new(v1.NodeGroupList)
	if err := r.Client.List(ctx, groups); err != nil {
		return ctrl.Result{}, fmt.Errorf("list groups: %w", err)
	}
	cluster.BootstrapTokens = map[string]string{}
	slices.SortFunc(groups.Items, func(a, b v1.NodeGroup) int { return cmp.Compare(a.Name, b.Name) })
	for _, group := range groups.Items {
		if group.DeletionTimestamp != nil {
			continue
		}
		resolved, err := resolve(group, config.DefaultCRI, cluster.KubernetesVersion)
		if err != nil {
			return ctrl.Result{}, err
		}
		cluster.NodeGroups = append(cluster.NodeGroups, resolved)
		if cluster.BootstrapTokens[group.Name], err = r.token(ctx, group.Name); err != nil {
			return ctrl.Result{}, err
		}
	}
	text, err := cluster.Marshal()
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: again}, r.write(ctx, text)
}

// defaultCRI is that of a cluster that names none.
const defaultCRI = "Containerd"

// resolve is the spec of a group with what is left to the cluster decided.
func resolve(group v1.NodeGroup, cri, version string) (input.Group, error) {
	resolved, err := plain(group.Spec)
	if err != nil {
		return nil, fmt.Errorf("read group %s: %w", group.Name, err)
	}
	resolved["name"], resolved["kubernetesVersion"] = group.Name, version
	if group.Spec.CRI == nil {
		resolved["cri"] = map[string]any{"type": cmp.Or(cri, defaultCRI)}
	}
	return resolved, nil
}

// write leaves the annotations alone: the lock is one.
func (r *Reconciler) write(ctx context.Context, text []byte) error {
	secret := new(corev1.Secret)
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: input.Secret}, secret)
	if apierrors.IsNotFound(err) {
		err = r.Client.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: input.Secret, Labels: map[string]string{"app": input.App}},
			Data:       map[string][]byte{input.Key: text},
		})
	} else if err == nil && !bytes.Equal(secret.Data[input.Key], text) {
		before := client.MergeFrom(secret.DeepCopy())
		secret.Data = map[string][]byte{input.Key: text}
		err = r.Client.Patch(ctx, secret, before)
	}
	if err != nil {
		return fmt.Errorf("write context of bashible-api-server: %w", err)
	}
	return nil
}

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager, c clock.Clock) error {
	server, err := discovery.NewDiscoveryClientForConfig(manager.GetConfig())
	if err != nil {
		return fmt.Errorf("reach API server: %w", err)
	}
	r := &Reconciler{Client: manager.GetClient(), Direct: manager.GetAPIReader(), Clock: c, Version: func() (string, error) {
		version, err := server.ServerVersion()
		if err != nil {
			return "", err
		}
		return version.Major + "." + version.Minor, nil
	}}
	one := []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: api.Namespace, Name: input.Secret}}}
	err = ctrl.NewControllerManagedBy(manager).Named(Name).
		Watches(&v1.NodeGroup{}, handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return one })).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			if o.GetName() == input.Secret || o.GetName() == packagesToken {
				return one
			}
			return nil
		})).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up context of bashible-api-server: %w", err)
	}
	return nil
}
