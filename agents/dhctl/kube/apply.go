package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// Apply makes objects as they are described, by server-side apply. Those that cannot be made
// yet, since their kind or namespace is not there or the API server is away, are tried again
// after the others until the context ends; an object that is at fault itself ends it at once.
func (c *Cluster) Apply(ctx context.Context, objects []map[string]any, log func(string)) error {
	var waiting error
	told := map[string]bool{}
	err := wait.PollUntilContextCancel(ctx, tryAgain, true, func(ctx context.Context) (bool, error) {
		var rest []map[string]any
		waiting = nil
		for _, object := range objects {
			o := &unstructured.Unstructured{Object: object}
			name := o.GetKind() + " " + o.GetName()
			err := c.applyOne(ctx, o)
			switch {
			case err == nil:
				log("Applied " + name)
			case mayPass(err):
				rest = append(rest, object)
				waiting = errors.Join(waiting, fmt.Errorf("apply %s: %w", name, err))
				if text := name + " has to wait: " + err.Error(); !told[text] {
					told[text] = true
					log(text)
				}
			default:
				return false, fmt.Errorf("apply %s: %w", name, err)
			}
		}
		if len(rest) > 0 {
			c.kinds.Reset() // new kinds may have come
		}
		objects = rest
		return len(rest) == 0, nil
	})
	if ctx.Err() != nil {
		return errors.Join(err, waiting)
	}
	return err
}

func (c *Cluster) applyOne(ctx context.Context, o *unstructured.Unstructured) error {
	kind := o.GroupVersionKind()
	mapping, err := c.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var client dynamic.ResourceInterface = c.objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := o.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		client = c.objects.Resource(mapping.Resource).Namespace(namespace)
	}
	_, err = client.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: Manager, Force: true})
	return err
}

// mayPass tells an error that time may mend from one that the object is guilty of.
func mayPass(err error) bool {
	status := apierrors.APIStatus(nil)
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return true
	case !errors.As(err, &status): // the server did not answer
		return true
	}
	return apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err) || apierrors.IsConflict(err)
}
