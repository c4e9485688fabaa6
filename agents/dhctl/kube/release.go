package kube

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Release deletes what may hold something outside of the cluster: services with a load balancer,
// and claims on volumes. It asks for the deletions and does not wait for what finalizers do.
func (c *Cluster) Release(ctx context.Context, log func(string)) error {
	services, err := c.typed.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list services: %w", err)
	}
	claims, err := c.typed.CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list volume claims: %w", err)
	}
	var all []error
	deleted := func(what, namespace, name string, err error) {
		switch {
		case err == nil:
			log(fmt.Sprintf("Deleted %s %s/%s", what, namespace, name))
		case !apierrors.IsNotFound(err):
			all = append(all, fmt.Errorf("delete %s %s/%s: %w", what, namespace, name, err))
		}
	}
	for _, s := range services.Items {
		if s.Spec.Type == corev1.ServiceTypeLoadBalancer {
			deleted("service", s.Namespace, s.Name, c.typed.CoreV1().Services(s.Namespace).Delete(ctx, s.Name, metav1.DeleteOptions{}))
		}
	}
	for _, p := range claims.Items {
		deleted("volume claim", p.Namespace, p.Name, c.typed.CoreV1().PersistentVolumeClaims(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{}))
	}
	return errors.Join(all...)
}
