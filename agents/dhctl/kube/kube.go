// Package kube does inside a cluster what operations need, through its Kubernetes API.
package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// Manager is the name under which fields are owned.
const Manager = "dhctl"

// Where a cluster keeps whose it is and what it was made from.
const (
	system         = "kube-system"
	ownerMap       = "d8-commander-uuid"
	ownerKey       = "commander-uuid"
	clusterSecret  = "d8-cluster-configuration"
	clusterKey     = "cluster-configuration.yaml"
	providerSecret = "d8-provider-cluster-configuration"
	providerKey    = "cloud-provider-cluster-configuration.yaml"
	requestTimeout = 30 * time.Second
	tryAgain       = 200 * time.Millisecond
	burst          = 100 // requests at once: applying resources asks for many kinds
)

// Cluster is the API of one cluster.
type Cluster struct {
	typed   kubernetes.Interface
	objects dynamic.Interface
	kinds   *restmapper.DeferredDiscoveryRESTMapper
}

// Open makes a client; it connects when it is used.
func Open(kubeconfig []byte) (*Cluster, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	// What a kubeconfig may name on this machine was never meant by whoever sent it.
	if config.ExecProvider != nil || config.AuthProvider != nil || config.BearerTokenFile != "" ||
		config.CertFile != "" || config.KeyFile != "" || config.CAFile != "" {
		return nil, errors.New("read kubeconfig: programs and files are not allowed in it, only data and tokens")
	}
	config.QPS, config.Burst, config.Timeout = 50, burst, requestTimeout
	config.UserAgent = Manager
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("open cluster: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("open cluster: %w", err)
	}
	return &Cluster{typed, objects, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(typed.Discovery()))}, nil
}

// Ready waits until the API serves.
func (c *Cluster) Ready(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, tryAgain, true, func(ctx context.Context) (bool, error) {
		_, last = c.typed.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the API server: %w", errors.Join(err, last))
	}
	return nil
}

// Owner is Commander's id of the cluster; empty when nobody wrote one.
func (c *Cluster) Owner(ctx context.Context) (string, error) {
	m, err := c.typed.CoreV1().ConfigMaps(system).Get(ctx, ownerMap, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read owner of the cluster: %w", err)
	}
	return m.Data[ownerKey], nil
}

// Configuration returns the documents that the cluster was made from; empty when there are none.
func (c *Cluster) Configuration(ctx context.Context) (cluster, provider string, err error) {
	if cluster, err = c.document(ctx, clusterSecret, clusterKey); err != nil {
		return "", "", err
	}
	provider, err = c.document(ctx, providerSecret, providerKey)
	return cluster, provider, err
}

func (c *Cluster) document(ctx context.Context, secret, key string) (string, error) {
	s, err := c.typed.CoreV1().Secrets(system).Get(ctx, secret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read configuration in the cluster: %w", err)
	}
	return string(s.Data[key]), nil
}

// Adopt writes the owner and the documents.
func (c *Cluster) Adopt(ctx context.Context, owner, cluster, provider string) error {
	force := metav1.ApplyOptions{FieldManager: Manager, Force: true}
	for name, document := range map[string][2]string{clusterSecret: {clusterKey, cluster}, providerSecret: {providerKey, provider}} {
		secret := applycore.Secret(name, system).WithType(corev1.SecretTypeOpaque).WithData(map[string][]byte{document[0]: []byte(document[1])})
		if _, err := c.typed.CoreV1().Secrets(system).Apply(ctx, secret, force); err != nil {
			return fmt.Errorf("write configuration into the cluster: %w", err)
		}
	}
	m := applycore.ConfigMap(ownerMap, system).WithData(map[string]string{ownerKey: owner})
	if _, err := c.typed.CoreV1().ConfigMaps(system).Apply(ctx, m, force); err != nil {
		return fmt.Errorf("write owner into the cluster: %w", err)
	}
	return nil
}
