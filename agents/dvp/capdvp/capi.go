package capdvp

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The group of Cluster API itself, and what it puts on objects.
const (
	capiGroup         = "cluster.x-k8s.io"
	labelCluster      = "cluster.x-k8s.io/cluster-name"
	labelControlPlane = "cluster.x-k8s.io/control-plane"
	notePaused        = "cluster.x-k8s.io/paused"
)

func capiKind(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: capiGroup, Version: "v1beta2", Kind: kind}
}

func capiObject(kind string) *unstructured.Unstructured {
	o := new(unstructured.Unstructured)
	o.SetGroupVersionKind(capiKind(kind))
	return o
}

// capiCluster is what we read of a Cluster. Its zero value is of one that is not there.
type capiCluster struct {
	exists         bool
	paused         bool
	infrastructure bool // ready
}

// readCluster reads a Cluster; without a name, or without a Cluster, the answer is empty.
func readCluster(ctx context.Context, c client.Reader, namespace, name string) (capiCluster, error) {
	if name == "" {
		return capiCluster{}, nil
	}
	o := capiObject("Cluster")
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
	if apierrors.IsNotFound(err) {
		return capiCluster{}, nil
	} else if err != nil {
		return capiCluster{}, fmt.Errorf("read Cluster %s: %w", name, err)
	}
	read := capiCluster{exists: true}
	read.paused, _, _ = unstructured.NestedBool(o.Object, "spec", "paused") // of another type counts as not there
	read.infrastructure, _, _ = unstructured.NestedBool(o.Object, "status", "initialization", "infrastructureProvisioned")
	return read, nil
}

// capiMachine is what we read of a Machine. Its zero value is of one that is not there.
type capiMachine struct {
	exists       bool
	cluster      string
	bootstrap    string // name of the Secret
	node         string // name of the Node, once it is known
	zone         string // its failure domain, empty for any
	controlPlane bool
}

// ownerMachine reads the Machine that an object is made for.
func ownerMachine(ctx context.Context, c client.Reader, o client.Object) (capiMachine, error) {
	name := ownerName(o, "Machine")
	if name == "" {
		return capiMachine{}, nil
	}
	m := capiObject("Machine")
	err := c.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: name}, m)
	if apierrors.IsNotFound(err) {
		return capiMachine{}, nil
	} else if err != nil {
		return capiMachine{}, fmt.Errorf("read Machine %s: %w", name, err)
	}
	read := capiMachine{exists: true}
	read.cluster, _, _ = unstructured.NestedString(m.Object, "spec", "clusterName")
	read.bootstrap, _, _ = unstructured.NestedString(m.Object, "spec", "bootstrap", "dataSecretName")
	read.node, _, _ = unstructured.NestedString(m.Object, "status", "nodeRef", "name")
	read.zone, _, _ = unstructured.NestedString(m.Object, "spec", "failureDomain")
	_, read.controlPlane = m.GetLabels()[labelControlPlane]
	return read, nil
}

// ownerName finds the owner of a kind of Cluster API, in whatever version it is named.
func ownerName(o client.Object, kind string) string {
	for _, owner := range o.GetOwnerReferences() {
		version, err := schema.ParseGroupVersion(owner.APIVersion)
		if err == nil && version.Group == capiGroup && owner.Kind == kind {
			return owner.Name
		}
	}
	return ""
}

// paused says whether nothing may be done for an object.
func paused(o metav1.Object, c capiCluster) bool {
	_, itself := o.GetAnnotations()[notePaused]
	return itself || c.paused
}
