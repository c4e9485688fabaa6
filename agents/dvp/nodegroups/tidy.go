package nodegroups

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
)

// scriptPause is from one look at a group's script to the next: its token is renewed hours before it
// ends, and Secrets are not watched.
const scriptPause = 5 * time.Minute

// tidy removes MachineDeployments of a group but these, then templates that no machines are made of
// any more, and at last, of a group that is gone, what its machines started by.
func (r *Reconciler) tidy(ctx context.Context, group string, deployments []string, template string) error {
	mine := []client.ListOption{client.InNamespace(Namespace), client.MatchingLabels{labelGroup: group}}
	used := []string{template}
	for _, kind := range []schema.GroupVersionKind{deploymentKind, setKind} {
		list := new(unstructured.UnstructuredList)
		list.SetGroupVersionKind(kind)
		if err := r.List(ctx, list, mine...); err != nil {
			return fmt.Errorf("list %s of %s: %w", kind.Kind, group, err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			name, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "infrastructureRef", "name")
			used = append(used, name)
			if kind != deploymentKind || slices.Contains(deployments, o.GetName()) || o.GetDeletionTimestamp() != nil {
				continue
			}
			if err := r.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete %s: %w", o.GetName(), err)
			}
		}
	}
	var templates v1alpha1.DeckhouseMachineTemplateList
	if err := r.List(ctx, &templates, mine...); err != nil {
		return fmt.Errorf("list templates of %s: %w", group, err)
	}
	for i := range templates.Items {
		if t := &templates.Items[i]; !slices.Contains(used, t.Name) {
			if err := r.Delete(ctx, t); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete template %s: %w", t.Name, err)
			}
		}
	}
	if len(used) > 1 || template != "" {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: bootstrapName(group)}}
	return client.IgnoreNotFound(r.Delete(ctx, secret))
}
