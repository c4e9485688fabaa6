// Package kube is what controllers read and write alike.
package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
)

// Checksum is that of a group's present configuration; empty if it has none yet.
func Checksum(ctx context.Context, c client.Reader, group string) (string, error) {
	secret := new(corev1.Secret)
	err := c.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: api.ChecksumsSecret}, secret)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("get checksums of configurations: %w", err)
	}
	return string(secret.Data[group]), nil
}
