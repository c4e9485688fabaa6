package nodes

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"commander/agents/lab"
	"commander/agents/lab/kubelet"
)

// Ensure makes nodes that are missing, changes those that differ, drains and deletes those that
// remove names, and returns when the wanted ones are ready. version is the full version of the
// kubelets of the wanted minor version, like v1.37.2. say gets a line at each step.
func Ensure(ctx context.Context, client kubernetes.Interface, want lab.Nodes, version string, say func(string)) error {
	have, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	byName := map[string]*corev1.Node{}
	taken := map[netip.Addr]bool{}
	for i := range have.Items {
		node := &have.Items[i]
		byName[node.Name] = node
		for _, a := range node.Status.Addresses {
			if address, err := netip.ParseAddr(a.Address); err == nil {
				taken[address] = true
			}
		}
	}
	for _, n := range want.Nodes {
		if slices.Contains(want.Remove, n.Name) && byName[n.Name] != nil {
			if err := remove(ctx, client, n.Name, say); err != nil { // it is made anew
				return err
			}
			delete(byName, n.Name)
		}
		if node := byName[n.Name]; node != nil {
			if err := change(ctx, client, node, n, version, say); err != nil {
				return err
			}
			continue
		}
		node, err := object(n, version, freeAddress(taken))
		if err != nil {
			return err
		}
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create node %s: %w", n.Name, err)
		}
		say(fmt.Sprintf("node %s: created (%d cores, %d GiB of memory, %d GiB of disk)", n.Name, n.Class.CPU, n.Class.MemoryGiB, n.Class.RootDiskGiB))
	}
	for _, name := range want.Remove {
		if slices.ContainsFunc(want.Nodes, func(n lab.Node) bool { return n.Name == name }) {
			continue // made anew above
		}
		if err := remove(ctx, client, name, say); err != nil {
			return err
		}
	}
	return waitReady(ctx, client, want.Nodes, say)
}

// freeAddress takes the lowest address that no node has.
func freeAddress(taken map[netip.Addr]bool) netip.Addr {
	address := kubelet.Network.Addr().Next()
	for taken[address] {
		address = address.Next()
	}
	taken[address] = true
	return address
}

// change makes a node that is there as wanted.
func change(ctx context.Context, client kubernetes.Interface, node *corev1.Node, want lab.Node, version string, say func(string)) error {
	is, err := observed(node)
	if err != nil {
		return err
	}
	is.Ready, want.Ready = false, false
	if same(is, want) && node.Status.NodeInfo.KubeletVersion == version {
		return nil
	}
	if err := settle(node, want); err != nil {
		return err
	}
	status := node.Status.DeepCopy()
	node, err = client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("change node %s: %w", want.Name, err)
	}
	if old := status.NodeInfo.KubeletVersion; old != version {
		say(fmt.Sprintf("node %s: kubelet %s → %s", want.Name, old, version))
	} else {
		say(fmt.Sprintf("node %s: changed", want.Name))
	}
	status.NodeInfo.KubeletVersion = version
	status.Capacity, status.Allocatable = capacity(want.Class), capacity(want.Class)
	node.Status = *status
	if _, err := client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("change status of node %s: %w", want.Name, err)
	}
	return nil
}

// same compares two nodes; no labels and empty labels are alike.
func same(a, b lab.Node) bool {
	if len(a.Labels) == 0 && len(b.Labels) == 0 {
		a.Labels, b.Labels = nil, nil
	}
	if len(a.Taints) == 0 && len(b.Taints) == 0 {
		a.Taints, b.Taints = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// List tells which nodes there are.
func List(ctx context.Context, client kubernetes.Interface) ([]lab.Node, error) {
	have, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	nodes := make([]lab.Node, 0, len(have.Items))
	for i := range have.Items {
		n, err := observed(&have.Items[i])
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

const (
	pollEvery  = 100 * time.Millisecond
	readyLimit = 2 * time.Minute
)

func waitReady(ctx context.Context, client kubernetes.Interface, want []lab.Node, say func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		nodes, err := List(ctx, client)
		if err != nil {
			return err
		}
		var missing string
		for _, n := range want {
			if !slices.ContainsFunc(nodes, func(have lab.Node) bool { return have.Name == n.Name && have.Ready }) {
				missing = n.Name
			}
		}
		if missing == "" {
			say(fmt.Sprintf("all %d nodes are ready", len(want)))
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for node %s to be ready: %w", missing, ctx.Err())
		case <-ticker.C:
		}
	}
}

// remove drains a node and deletes it; one that is not there is no error.
func remove(ctx context.Context, client kubernetes.Interface, name string, say func(string)) error {
	patch := []byte(`{"spec":{"unschedulable":true}}`)
	_, err := client.CoreV1().Nodes().Patch(ctx, name, mergePatch, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cordon node %s: %w", name, err)
	}
	moved, err := drain(ctx, client, name)
	if err != nil {
		return err
	}
	if err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete node %s: %w", name, err)
	}
	if err := sweep(ctx, client, name); err != nil {
		return err
	}
	say(fmt.Sprintf("node %s: drained (%d pods) and deleted", name, moved))
	return nil
}
