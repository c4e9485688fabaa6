package dhctl

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Machine is one machine in comparable form. Two machines of a name are the same when all is
// equal; another Class means that the machine must be made anew, other Settings that it can be
// changed where it stands.
type Machine = struct{ Group, Class, Settings string }

// Infra is what a cluster consists of, wanted or observed.
type Infra = struct {
	// Exists is false when there is nothing, not even a leftover.
	Exists bool
	// Version is the minor version of Kubernetes, as 1.37.
	Version string
	// Fixed is what never changes once it is built, in comparable form.
	Fixed    string
	Machines map[string]Machine
}

// Engine is what a kind of cluster must be able to do. Every method may be called again after
// it was interrupted anywhere and then goes on from what there is; deleting what is gone is a
// success. Clusters are named by Commander's id of them; documents are single ones, YAML
// as people wrote them. Types are plain, so that an engine need not import this package.
type Engine interface {
	// Wanted reads the documents and says what they ask for. Its errors are for the person who
	// wrote them. It touches nothing outside.
	Wanted(cluster, provider string) (Infra, error)
	Observe(ctx context.Context, id string) (Infra, error)
	// EnsureBase makes the base infrastructure and a control plane of the wanted version, and
	// returns when its API answers.
	EnsureBase(ctx context.Context, id, cluster, provider string, log func(string)) error
	// EnsureMachines makes the wanted machines and changes those that differ in settings. It
	// removes or makes anew only what remove names.
	EnsureMachines(ctx context.Context, id, cluster, provider string, remove []string, log func(string)) error
	// Kubeconfig is an administrator's.
	Kubeconfig(ctx context.Context, id string) ([]byte, error)
	// EnsureAgent runs Commander's agent for the cluster.
	EnsureAgent(ctx context.Context, id, commanderURL, token, caBundle string) error
	// StopAgent ends Commander's agent for the cluster, which itself runs on.
	StopAgent(ctx context.Context, id string) error
	DeleteMachines(ctx context.Context, id string, log func(string)) error
	// DeleteBase deletes everything that is left of the cluster.
	DeleteBase(ctx context.Context, id string, log func(string)) error
}

// engine finds the engine for a kind of cluster.
func engine(engines map[string]Engine, kind string) (Engine, error) {
	if e, ok := engines[kind]; ok {
		return e, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(engines)), ", ")
	return nil, fmt.Errorf("clusters of kind %s are not supported yet (supported: %s)", kind, known)
}
