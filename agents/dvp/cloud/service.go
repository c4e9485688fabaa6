package cloud

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A ServiceWithHealthchecks is like a Service, and only machines that pass its checks are in it. It
// makes a Service of its own name.
var healthchecksKind = schema.GroupVersionKind{Group: "network.deckhouse.io", Version: "v1alpha1", Kind: "ServiceWithHealthchecks"}

const healthchecksResource = "servicewithhealthchecks"

// appearPause is between two looks for a Service that somebody else is to make.
const appearPause = time.Second

// Service reads a Service of the project.
func (c *Cloud) Service(ctx context.Context, name string) (*corev1.Service, error) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.read(ctx, service); err != nil {
		return nil, err
	}
	return service, nil
}

// ApplyService makes a Service, or changes it.
func (c *Cloud) ApplyService(ctx context.Context, name string, change func(*corev1.Service)) error {
	_, err := apply(ctx, c, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}, change)
	return err
}

// DeleteService removes a Service, if there is one.
func (c *Cloud) DeleteService(ctx context.Context, name string) error {
	return c.removeOwned(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// AwaitIngress waits until a Service has an address. The Service itself may yet have to be made.
func (c *Cloud) AwaitIngress(ctx context.Context, name string) ([]corev1.LoadBalancerIngress, error) {
	for {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
		err := await(ctx, c, service, &corev1.ServiceList{}, func(now *corev1.Service) (bool, error) {
			return len(now.Status.LoadBalancer.Ingress) > 0, nil
		})
		if !Is(err, NotFound) {
			return service.Status.LoadBalancer.Ingress, err
		}
		pause := time.NewTimer(appearPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil, late(ctx, service, err)
		case <-pause.C:
		}
	}
}

// ServesHealthchecks says whether DVP has the kind ServiceWithHealthchecks. Only a list of kinds
// without it counts as no.
func (c *Cloud) ServesHealthchecks(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	groups, kinds := new(metav1.APIGroupList), new(metav1.APIResourceList)
	if err := c.discovery.Get().AbsPath("/apis").Do(ctx).Into(groups); err != nil {
		return false, judge(err, "list groups of kinds", "", "")
	}
	if len(groups.Groups) == 0 {
		return false, judge(errNotDVP, "list groups of kinds", "", "")
	}
	version := healthchecksKind.GroupVersion().String()
	for _, group := range groups.Groups {
		if !slices.ContainsFunc(group.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.GroupVersion == version }) {
			continue
		}
		if err := c.discovery.Get().AbsPath("/apis/" + version).Do(ctx).Into(kinds); err != nil {
			return false, judge(err, "list kinds of "+version, "", "")
		}
		if kinds.GroupVersion != version {
			return false, judge(errNotDVP, "list kinds of "+version, "", "")
		}
		return slices.ContainsFunc(kinds.APIResources, func(r metav1.APIResource) bool { return r.Name == healthchecksResource }), nil
	}
	return false, nil
}

func healthchecks(name string) *unstructured.Unstructured {
	object := new(unstructured.Unstructured)
	object.SetGroupVersionKind(healthchecksKind)
	object.SetName(name)
	return object
}

func healthchecksList() *unstructured.UnstructuredList {
	list := new(unstructured.UnstructuredList)
	list.SetGroupVersionKind(healthchecksKind.GroupVersion().WithKind(healthchecksKind.Kind + "List"))
	return list
}

// HasHealthchecks says whether there is a ServiceWithHealthchecks of a name.
func (c *Cloud) HasHealthchecks(ctx context.Context, name string) (bool, error) {
	err := c.read(ctx, healthchecks(name))
	if Is(err, NotFound) {
		return false, nil
	}
	return err == nil, err
}

// ApplyHealthchecks makes a ServiceWithHealthchecks, or changes it. What is nil in the spec is
// taken out of it, what is not mentioned stays.
func (c *Cloud) ApplyHealthchecks(ctx context.Context, name string, annotate func(metav1.Object), spec map[string]any) error {
	_, err := apply(ctx, c, healthchecks(name), func(object *unstructured.Unstructured) {
		annotate(object)
		all, ok := object.Object["spec"].(map[string]any)
		if !ok {
			all = map[string]any{}
			object.Object["spec"] = all
		}
		for key, value := range spec {
			if all[key] = value; value == nil {
				delete(all, key)
			}
		}
	})
	return err
}

// DeleteHealthchecks removes a ServiceWithHealthchecks, if there is one.
func (c *Cloud) DeleteHealthchecks(ctx context.Context, name string) error {
	if err := c.removeOwned(ctx, healthchecks(name)); err != nil {
		return fmt.Errorf("remove load balancer with checks: %w", err)
	}
	return nil
}
