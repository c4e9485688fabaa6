package dhctl

import "context"

// API is what operations do inside a cluster, by its Kubernetes API.
type API interface {
	// Ready waits until the API serves.
	Ready(ctx context.Context) error
	// Owner is Commander's id of the cluster as it is written inside; empty when nobody wrote one.
	Owner(ctx context.Context) (string, error)
	// Configuration returns the documents stored inside; empty when there are none.
	Configuration(ctx context.Context) (cluster, provider string, err error)
	// Adopt writes the owner and the documents.
	Adopt(ctx context.Context, owner, cluster, provider string) error
	// Version is the minor version of the API server, as 1.37.
	Version(ctx context.Context) (string, error)
	// Networks are the subnets of pods and services, as far as the nodes and services tell them.
	Networks(ctx context.Context) (pods, services string, err error)
	// RemoveAgent removes the namespace and the rights of Commander's agent.
	RemoveAgent(ctx context.Context) error
	// Disown removes the mark of an owner; another owner's is left.
	Disown(ctx context.Context, owner string) error
	// Apply makes objects as they are described. Those whose kind or namespace another of them
	// brings may stand before it.
	Apply(ctx context.Context, objects []map[string]any, log func(string)) error
	// Release deletes objects that hold something outside of the cluster.
	Release(ctx context.Context, log func(string)) error
}

// Connect opens the API of a cluster.
type Connect func(kubeconfig []byte) (API, error)
