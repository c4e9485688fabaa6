package apiserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
)

// How the API server names machines.
const (
	nodesGroup   = "system:nodes"
	nodePrefix   = "system:node:"
	tokensGroup  = "system:bootstrappers"
	tokenPrefix  = "system:bootstrap:"
	secretPrefix = "bootstrap-token-"
	tokenSpace   = "kube-system"
)

// Access decides which group's configuration a machine may read: that of its own Node, or the one
// that its bootstrap token was made for. Whoever is no machine is judged by the API server alone.
type Access struct {
	Cached client.Reader // metadata of Nodes
	Direct client.Reader // asks the API server: Nodes that are newer than the cache, and tokens
}

// Group is the only group that a caller may read; empty means any.
func (a Access) Group(ctx context.Context, who user.Info) (group string, limited bool, err error) {
	switch {
	case slices.Contains(who.GetGroups(), nodesGroup):
		group, err = a.ofNode(ctx, strings.TrimPrefix(who.GetName(), nodePrefix))
	case slices.Contains(who.GetGroups(), tokensGroup):
		group, err = a.ofToken(ctx, strings.TrimPrefix(who.GetName(), tokenPrefix))
	default:
		return "", false, nil
	}
	return group, true, client.IgnoreNotFound(err)
}

func (a Access) ofNode(ctx context.Context, name string) (string, error) {
	node := new(metav1.PartialObjectMetadata)
	node.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
	err := a.Cached.Get(ctx, client.ObjectKey{Name: name}, node)
	if apierrors.IsNotFound(err) || err == nil && node.Labels[api.LabelGroup] == "" {
		err = a.Direct.Get(ctx, client.ObjectKey{Name: name}, node)
	}
	if err != nil {
		return "", fmt.Errorf("get node %s: %w", name, err)
	}
	return node.Labels[api.LabelGroup], nil
}

func (a Access) ofToken(ctx context.Context, id string) (string, error) {
	secret := new(corev1.Secret)
	if err := a.Direct.Get(ctx, client.ObjectKey{Namespace: tokenSpace, Name: secretPrefix + id}, secret); err != nil {
		return "", fmt.Errorf("get bootstrap token %s: %w", id, err)
	}
	return secret.Labels[api.LabelTokenGroup], nil
}
