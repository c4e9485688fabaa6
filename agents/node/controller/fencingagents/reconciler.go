// Package fencingagents runs an agent on each node of the groups that are fenced.
package fencingagents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
)

// Name is that of the controller.
const Name = "fencing-agents"

// annotationWanted is a digest of the DaemonSet as it was written: what is read back has defaults
// of the API server in it and cannot be compared.
const annotationWanted = "node-manager.deckhouse.io/wanted"

// Reconciler keeps the DaemonSet of one group at a time.
type Reconciler struct {
	Client client.Client
	Image  Image
}

// Reconcile makes, changes or deletes the DaemonSet as the group says. Agents that end so take
// their labels back and disarm.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	group := new(v1.NodeGroup)
	if err := r.Client.Get(ctx, request.NamespacedName, group); apierrors.IsNotFound(err) {
		return ctrl.Result{}, nil // what it owns goes with it
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("get group %s: %w", request.Name, err)
	}
	wanted, err := daemonSet(group, r.Image)
	if err != nil {
		return ctrl.Result{}, err
	}
	there := new(appsv1.DaemonSet)
	err = r.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: prefix + group.Name}, there)
	found := err == nil
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("get agents of group %s: %w", group.Name, err)
	}
	if wanted == nil {
		if found && there.DeletionTimestamp.IsZero() {
			if err := r.Client.Delete(ctx, there, client.Preconditions{UID: &there.UID}); client.IgnoreNotFound(err) != nil {
				return ctrl.Result{}, fmt.Errorf("delete agents of group %s: %w", group.Name, err)
			}
		}
		return ctrl.Result{}, nil
	}
	text, err := json.Marshal(wanted)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("write agents of group %s: %w", group.Name, err)
	}
	sum := sha256.Sum256(text)
	wanted.Annotations = map[string]string{annotationWanted: hex.EncodeToString(sum[:])}
	switch {
	case !found:
		err = r.Client.Create(ctx, wanted)
	case there.Annotations[annotationWanted] != wanted.Annotations[annotationWanted]:
		wanted.ResourceVersion = there.ResourceVersion
		err = r.Client.Update(ctx, wanted)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("write agents of group %s: %w", group.Name, err)
	}
	return ctrl.Result{}, nil
}

// Setup adds the controller to a manager.
func Setup(manager ctrl.Manager, image Image) error {
	err := ctrl.NewControllerManagedBy(manager).Named(Name).For(&v1.NodeGroup{}).Owns(&appsv1.DaemonSet{}).
		Complete(&Reconciler{Client: manager.GetClient(), Image: image})
	if err != nil {
		return fmt.Errorf("set up fencing agents: %w", err)
	}
	return nil
}
