package fencing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
)

// Cluster is what the agent reads and writes through the API server.
type Cluster struct {
	Client kubernetes.Interface
	Node   string
	Group  string

	mu   sync.Mutex // protects node
	node *corev1.Node
}

// Member is a node of the group.
type Member struct {
	Name, Address string
	UID           types.UID
	Counted       int // nodes that its agent has written down; 0 without
}

// Members lists the nodes of the group with their internal addresses.
func (c *Cluster) Members(ctx context.Context) ([]Member, error) {
	list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: api.LabelGroup + "=" + c.Group})
	if err != nil {
		return nil, fmt.Errorf("list nodes of group %s: %w", c.Group, err)
	}
	var all []Member
	for _, node := range list.Items {
		m := Member{Name: node.Name, UID: node.UID}
		m.Counted, _ = strconv.Atoi(node.Annotations[api.AnnotationFencingTotal]) // what is no number binds nobody
		for _, address := range node.Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				m.Address = address.Address
				break
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// Renewals reads when each node of the cluster last renewed its Lease.
func (c *Cluster) Renewals(ctx context.Context) (map[string]time.Time, error) {
	list, err := c.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list leases of nodes: %w", err)
	}
	renewed := make(map[string]time.Time, len(list.Items))
	for _, lease := range list.Items {
		if lease.Spec.RenewTime != nil {
			renewed[lease.Name] = lease.Spec.RenewTime.Time
		}
	}
	return renewed, nil
}

// Label tells the controller that the node resets itself when it is lost, after that time, and
// trusts no quorum of a group of fewer nodes than total.
func (c *Cluster) Label(ctx context.Context, mode v1.FencingMode, timeout time.Duration, total int) error {
	return c.patch(ctx, map[string]any{
		"labels":      map[string]any{api.LabelFencingEnabled: "", api.LabelFencingMode: string(mode)},
		"annotations": map[string]any{api.AnnotationFencingTimeout: timeout.String(), api.AnnotationFencingTotal: strconv.Itoa(total)},
	})
}

// Unlabel takes that back.
func (c *Cluster) Unlabel(ctx context.Context) error {
	return c.patch(ctx, map[string]any{
		"labels":      map[string]any{api.LabelFencingEnabled: nil, api.LabelFencingMode: nil},
		"annotations": map[string]any{api.AnnotationFencingTimeout: nil, api.AnnotationFencingTotal: nil},
	})
}

func (c *Cluster) patch(ctx context.Context, metadata map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	if _, err := c.Client.CoreV1().Nodes().Patch(ctx, c.Node, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("label node %s: %w", c.Node, err)
	}
	return nil
}

// Watch follows the node itself until ctx ends.
func (c *Cluster) Watch(ctx context.Context) error {
	selector := fields.OneTermEqualSelector("metadata.name", c.Node)
	list := cache.NewListWatchFromClient(c.Client.CoreV1().RESTClient(), "nodes", metav1.NamespaceAll, selector)
	keep := func(object any) {
		if node, is := object.(*corev1.Node); is {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.node = node
		}
	}
	informer := cache.NewSharedInformer(list, &corev1.Node{}, 0)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: keep, UpdateFunc: func(_, object any) { keep(object) },
	})
	if err != nil {
		return fmt.Errorf("watch node %s: %w", c.Node, err)
	}
	informer.RunWithContext(ctx)
	return nil
}

// errUnseen means that the Node was never read: whether it is in maintenance is not known.
var errUnseen = errors.New("the node was not read yet")

// InMaintenance says what the node's annotations said last, also while the API server is away.
func (c *Cluster) InMaintenance() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.node == nil {
		return false, errUnseen
	}
	return api.InMaintenance(c.node.Annotations), nil
}
