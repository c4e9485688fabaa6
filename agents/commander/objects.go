package commander

import (
	"crypto/sha256"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"commander/agents/agentapi"
)

// id names an object whatever version of its kind it is written in.
type id struct {
	kind            schema.GroupKind
	namespace, name string
}

// prepare gives an object the agent's marks and takes away what only the API server may set. The
// result is the applied form.
func prepare(w wantedObject, r place) *unstructured.Unstructured {
	o := w.object.DeepCopy()
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[heritageLabel], labels[groupLabel] = heritage, w.group
	delete(labels, agentapi.OrphanLabel)
	o.SetLabels(labels)
	o.SetNamespace(namespaceOf(w.object, r))
	return o
}

func namespaceOf(o *unstructured.Unstructured, r place) string {
	switch {
	case !r.namespaced:
		return ""
	case o.GetNamespace() == "":
		return metav1.NamespaceDefault
	default:
		return o.GetNamespace()
	}
}

// ours says whether the agent made an object.
func ours(labels map[string]string) bool {
	_, grouped := labels[groupLabel]
	return grouped && labels[heritageLabel] == heritage
}

// fingerprint tells two applied forms apart.
func fingerprint(o *unstructured.Unstructured) ([sha256.Size]byte, error) {
	raw, err := o.MarshalJSON()
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("write object: %w", err)
	}
	return sha256.Sum256(raw), nil
}

// errorLimit bounds what is reported about one object, in bytes.
const errorLimit = 1000

func errorText(err error) string {
	text := err.Error()
	if len(text) > errorLimit {
		text = text[:errorLimit] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

// mayComeSoon says whether an error goes away by what else the same configuration holds.
func mayComeSoon(err error) bool { return apierrors.IsNotFound(err) }
