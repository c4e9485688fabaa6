package ccm

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/cloud-provider/controllers/node"
	"k8s.io/cloud-provider/controllers/nodelifecycle"
	"k8s.io/cloud-provider/controllers/service"
	"k8s.io/component-base/featuregate"
	controllersmetrics "k8s.io/component-base/metrics/prometheus/controllers"

	"commander/internal/run"
)

// The controllers of Kubernetes that a provider is for.
const (
	CloudNode          = "cloud-node"
	CloudNodeLifecycle = "cloud-node-lifecycle"
	ServiceLB          = "service-lb-controller"
)

// Controllers lists them.
var Controllers = []string{CloudNode, CloudNodeLifecycle, ServiceLB}

// Settings are those of the controllers.
type Settings struct {
	Controllers []string      // names of those that run
	ClusterName string        // as the controllers are told it; nothing depends on it
	NodeStatus  time.Duration // from one look at the addresses of all nodes to the next
	NodeMonitor time.Duration // from one look for machines that are gone or stopped to the next
	Workers     int           // of each controller
}

// Join puts the controllers into a group, with the informers that they share.
func (p *Provider) Join(group *run.Group, client kubernetes.Interface, s Settings) error {
	factory := informers.NewSharedInformerFactory(client, 12*time.Hour)
	nodes, services := factory.Core().V1().Nodes(), factory.Core().V1().Services()
	metrics := controllersmetrics.NewControllerManagerMetrics("cloud-controller-manager")
	if slices.Contains(s.Controllers, CloudNode) {
		c, err := node.NewCloudNodeController(nodes, client, p, s.NodeStatus, int32(s.Workers), int32(s.Workers))
		if err != nil {
			return fmt.Errorf("make controller %s: %w", CloudNode, err)
		}
		group.Add(CloudNode, func(ctx context.Context) error { c.RunWithContext(ctx, metrics); return nil })
	}
	if slices.Contains(s.Controllers, CloudNodeLifecycle) {
		c, err := nodelifecycle.NewCloudNodeLifecycleController(nodes, client, p, s.NodeMonitor, s.Workers)
		if err != nil {
			return fmt.Errorf("make controller %s: %w", CloudNodeLifecycle, err)
		}
		group.Add(CloudNodeLifecycle, func(ctx context.Context) error { c.Run(ctx, metrics); return nil })
	}
	if slices.Contains(s.Controllers, ServiceLB) {
		c, err := service.New(p, client, services, nodes, s.ClusterName, featuregate.NewFeatureGate())
		if err != nil {
			return fmt.Errorf("make controller %s: %w", ServiceLB, err)
		}
		follow, err := p.FollowEndpoints(factory)
		if err != nil {
			return err
		}
		group.Add(ServiceLB, func(ctx context.Context) error { c.Run(ctx, s.Workers, metrics); return nil })
		group.Add("local-endpoints", follow)
	}
	group.Add("informers", func(ctx context.Context) error {
		factory.StartWithContext(ctx)
		<-ctx.Done()
		factory.Shutdown()
		return nil
	})
	return nil
}

// Where a ConfigMap says that load balancers are somebody else's.
const (
	disabledNamespace = "d8-cloud-provider-dvp"
	disabledName      = "dvp-cloud-controller-manager-disable-lb"
)

// Enabled leaves the load balancers out of the wanted controllers if the ConfigMap is there.
func Enabled(ctx context.Context, client kubernetes.Interface, wanted []string) ([]string, error) {
	_, err := client.CoreV1().ConfigMaps(disabledNamespace).Get(ctx, disabledName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return wanted, nil
	case err != nil:
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", disabledNamespace, disabledName, err)
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return name == ServiceLB }), nil
}
