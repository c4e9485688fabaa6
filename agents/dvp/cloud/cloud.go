package cloud

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// Labels on what we make in a project.
const (
	LabelManagedBy   = "deckhouse.io/managed-by"
	LabelClusterUUID = "dvp.deckhouse.io/cluster-uuid"
	LabelPrefix      = "dvp.deckhouse.io/cluster-prefix"
	LabelNodeGroup   = "dvp.deckhouse.io/node-group"
	LabelHostname    = "dvp.deckhouse.io/hostname" // the name of the Node that a machine is
	LabelDisk        = "virtualDiskName"
	LabelMachineDisk = "virtualMachineDiskName"
	LabelMachine     = "virtualMachineName"

	ManagedBy = "deckhouse"
)

// callBound is how long one request may take; DVP's webhooks may take ten seconds each.
const callBound = 30 * time.Second

// confirmPause lies between two questions whether an object is really gone: longer than a restart
// of an API server behind a balancer, which may answer from an old view.
const confirmPause = 2 * time.Second

// Cloud is one project of one DVP. It is safe for use by many goroutines.
type Cloud struct {
	client    client.WithWatch
	discovery rest.Interface // what kinds there are
	namespace string
	cluster   string // its uuid
}

// New reaches a project. It asks nothing yet; Ping does.
func New(config *rest.Config, namespace, clusterUUID string) (*Cloud, error) {
	if namespace == "" || clusterUUID == "" {
		return nil, errors.New("reach DVP: namespace and cluster uuid are needed")
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), networkingv1.AddToScheme(scheme), storagev1.AddToScheme(scheme), v1alpha2.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("reach DVP: %w", err)
	}
	c, err := client.NewWithWatch(rest.CopyConfig(config), client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reach DVP: %w", err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reach DVP: %w", err)
	}
	return &Cloud{client: c, discovery: d.RESTClient(), namespace: namespace, cluster: clusterUUID}, nil
}

// Over is a project behind a client that is there already, for who plays DVP. What kinds there are
// cannot be asked of it.
func Over(c client.WithWatch, namespace, clusterUUID string) *Cloud {
	return &Cloud{client: c, namespace: namespace, cluster: clusterUUID}
}

// Ping says whether DVP answers and lets us see the machines of the project.
func (c *Cloud) Ping(ctx context.Context) error {
	var machines v1alpha2.VirtualMachineList
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	err := c.list(ctx, &machines, client.InNamespace(c.namespace), client.Limit(1))
	return judge(err, "list VirtualMachines", "virtualmachines", "")
}

// labels are what every object of ours has.
func (c *Cloud) labels(more map[string]string) map[string]string {
	all := map[string]string{LabelManagedBy: ManagedBy, LabelClusterUUID: c.cluster}
	for key, value := range more {
		if len(value) <= validation.LabelValueMaxLength { // what is longer is found by its name alone
			all[key] = value
		}
	}
	return all
}

// Gone says whether a lookup says NotFound, and says it again after a pause. Every other answer,
// also the second time, is an error or false.
func Gone(ctx context.Context, lookup func(context.Context) error) (bool, error) {
	if err := lookup(ctx); !Is(err, NotFound) {
		return false, err
	}
	pause := time.NewTimer(confirmPause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false, &Error{Unreachable, "confirm that it is gone", context.Cause(ctx)}
	case <-pause.C:
	}
	if err := lookup(ctx); !Is(err, NotFound) {
		return false, err
	}
	return true, nil
}
