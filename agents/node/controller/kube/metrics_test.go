package kube

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"commander/internal/kubetest"
)

// Metrics of controllers are for those who may read them.
func TestMetricsAreGuarded(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	over, err := rest.HTTPClientFor(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := metricsserver.NewServer(Metrics(address, "node-controller"), server.Config, over)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- metrics.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	kube, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	namespace := server.Namespace(t)
	account, err := kube.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := kube.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// It signs its own certificate.
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // the test's own server
	for bearer, want := range map[string]int{server.Config.BearerToken: http.StatusOK, token.Status.Token: http.StatusForbidden, "": http.StatusUnauthorized} {
		deadline := time.Now().Add(time.Minute)
		for {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://%s/metrics", address), nil)
			if err != nil {
				t.Fatal(err)
			}
			if bearer != "" {
				request.Header.Set("Authorization", "Bearer "+bearer)
			}
			answer, err := plain.Do(request)
			if err != nil && time.Now().Before(deadline) {
				continue // it is still starting
			}
			if err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != want || answer.Body.Close() != nil {
				t.Errorf("got %s, want %d", answer.Status, want)
			}
			break
		}
	}
}
