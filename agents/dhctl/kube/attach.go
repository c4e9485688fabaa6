package kube

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"commander/agents/dhctl/guest"
)

// Version is the minor version of the API server, as 1.37.
func (c *Cluster) Version(context.Context) (string, error) {
	v, err := c.typed.Discovery().ServerVersion() // bounded by the client's own timeout
	if err != nil {
		return "", fmt.Errorf("ask the API server for its version: %w", err)
	}
	return v.Major + "." + strings.TrimRight(v.Minor, "+"), nil
}

// Networks are the subnets of pods and services as nodes and the service "kubernetes" show them;
// empty what they do not show. A subnet is widened to the size that clusters usually have.
func (c *Cluster) Networks(ctx context.Context) (pods, services string, err error) {
	const usual = 16
	nodes, err := c.typed.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", "", fmt.Errorf("list nodes: %w", err)
	}
	if len(nodes.Items) > 0 {
		if p, err := netip.ParsePrefix(nodes.Items[0].Spec.PodCIDR); err == nil {
			pods = netip.PrefixFrom(p.Addr(), min(p.Bits(), usual)).Masked().String()
		}
	}
	service, err := c.typed.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return pods, "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("read the service of the API server: %w", err)
	}
	if a, err := netip.ParseAddr(service.Spec.ClusterIP); err == nil && a.Is4() {
		services = netip.PrefixFrom(a, usual).Masked().String()
	}
	if services == pods {
		pods = "" // both cannot be; the default of the platform is as good
	}
	return pods, services, nil
}

// goneLimit is how long to wait for the namespace to be gone, so that who attaches the cluster next
// does not meet it. Where nothing empties namespaces it is left to go by itself.
const goneLimit = 30 * time.Second

// RemoveAgent removes the namespace and the rights of Commander's agent.
func (c *Cluster) RemoveAgent(ctx context.Context) error {
	err := c.typed.RbacV1().ClusterRoleBindings().Delete(ctx, guest.Binding, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove rights of the agent: %w", err)
	}
	err = c.typed.CoreV1().Namespaces().Delete(ctx, guest.Namespace, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // it is going already
		return fmt.Errorf("remove namespace of the agent: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, tryAgain, goneLimit, true, func(ctx context.Context) (bool, error) {
		_, err := c.typed.CoreV1().Namespaces().Get(ctx, guest.Namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil && !wait.Interrupted(err) {
		return fmt.Errorf("wait for the namespace of the agent to be gone: %w", err)
	}
	return ctx.Err()
}

// Disown removes the mark of an owner; another owner's is left.
func (c *Cluster) Disown(ctx context.Context, owner string) error {
	m, err := c.typed.CoreV1().ConfigMaps(system).Get(ctx, ownerMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read owner of the cluster: %w", err)
	}
	if m.Data[ownerKey] != owner {
		return nil
	}
	// Only the mark that was looked at: somebody may take the cluster over at this moment.
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &m.UID, ResourceVersion: &m.ResourceVersion}}
	if err := c.typed.CoreV1().ConfigMaps(system).Delete(ctx, ownerMap, options); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove owner of the cluster: %w", err)
	}
	return nil
}
