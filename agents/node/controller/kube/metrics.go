package kube

import (
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"commander/agents/node/api"
	"commander/internal/clock"
	"commander/internal/guard"
)

// Metrics are served over TLS at an address ("0" means none), to those who may get
// deployments/prometheus-metrics of a deployment. Its certificate is its own.
func Metrics(address, deployment string) metricsserver.Options {
	may := authorizationv1.ResourceAttributes{
		Group: "apps", Resource: "deployments", Subresource: "prometheus-metrics", Name: deployment, Namespace: api.Namespace, Verb: "get",
	}
	return metricsserver.Options{
		BindAddress: address, SecureServing: true,
		FilterProvider: func(config *rest.Config, over *http.Client) (metricsserver.Filter, error) {
			client, err := kubernetes.NewForConfigAndClient(config, over)
			if err != nil {
				return nil, fmt.Errorf("guard metrics: %w", err)
			}
			g := guard.New(client, may, clock.System{})
			return func(_ logr.Logger, metrics http.Handler) (http.Handler, error) { return g.Handler(metrics), nil }, nil
		},
	}
}
