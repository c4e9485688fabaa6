package ccm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/api"

	"commander/agents/dvp/cloud"
)

// retryPause is before a load balancer without an address is looked at again.
const retryPause = 5 * time.Second

// selectorKey is the label by which the load balancer of a name selects machines.
func selectorKey(name string) string {
	key := strings.ReplaceAll(strings.ToLower(name), "-", "")
	return "dvp.deckhouse.io/" + key[:min(len(key), 63)]
}

// selectorValue is that of the label on machines that are in a load balancer.
const selectorValue = "loadbalancer"

// GetLoadBalancerName is the one that Kubernetes has for it by default.
func (p *Provider) GetLoadBalancerName(_ context.Context, _ string, service *corev1.Service) string {
	return cloudprovider.DefaultLoadBalancerName(service)
}

// GetLoadBalancer says whether anything of a load balancer is there, be it a label alone.
func (p *Provider) GetLoadBalancer(ctx context.Context, clusterName string, service *corev1.Service) (*corev1.LoadBalancerStatus, bool, error) {
	name := p.GetLoadBalancerName(ctx, clusterName, service)
	switch found, err := p.Cloud.Service(ctx, name); {
	case err == nil:
		return &found.Status.LoadBalancer, true, nil
	case !cloud.Is(err, cloud.NotFound):
		return nil, false, err
	}
	if served, err := p.servesChecks(ctx, false); err != nil {
		return nil, false, err
	} else if served {
		if exists, err := p.Cloud.HasHealthchecks(ctx, name); err != nil || exists {
			return &corev1.LoadBalancerStatus{}, exists, err
		}
	}
	machines, err := p.Cloud.Machines(ctx)
	for i := range machines {
		if _, labelled := machines[i].Labels[selectorKey(name)]; labelled {
			return &corev1.LoadBalancerStatus{}, true, nil
		}
	}
	return nil, false, err
}

// EnsureLoadBalancer makes a load balancer, or changes it, and tells its address.
func (p *Provider) EnsureLoadBalancer(ctx context.Context, clusterName string, service *corev1.Service, nodes []*corev1.Node) (*corev1.LoadBalancerStatus, error) {
	name := p.GetLoadBalancerName(ctx, clusterName, service)
	if err := p.fill(ctx, name, p.balanced(service.UID), service, nodes); err != nil {
		return nil, err
	}
	if err := p.apply(ctx, name, service); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, p.AddressBound)
	defer cancel()
	ingress, err := p.Cloud.AwaitIngress(waiting, name)
	switch {
	case err == nil:
		return &corev1.LoadBalancerStatus{Ingress: ingress}, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, api.NewRetryError(fmt.Sprintf("load balancer %s has no address from DVP yet", name), retryPause)
	}
	return nil, err
}

// apply makes the object in DVP: one with checks if DVP has that kind, unless there is one without
// already, whose address would change.
func (p *Provider) apply(ctx context.Context, name string, service *corev1.Service) error {
	checks, err := p.servesChecks(ctx, false)
	if err != nil {
		return err
	}
	if checks {
		if checks, err = p.mayCheck(ctx, name); err != nil {
			return err
		}
	}
	if checks {
		spec, err := checkedSpec(name, service)
		if err != nil {
			return err
		}
		err = p.Cloud.ApplyHealthchecks(ctx, name, annotate(service), spec)
		if !cloud.Is(err, cloud.Unreachable) {
			return err
		}
		if served, asked := p.servesChecks(ctx, true); asked != nil || served {
			return err
		} // the kind was taken away since we knew of it
	}
	return p.Cloud.ApplyService(ctx, name, func(parent *corev1.Service) {
		annotate(service)(parent)
		changeSpec(&parent.Spec, name, service)
	})
}

// mayCheck is false if the load balancer is a Service of ours that nobody else made.
func (p *Provider) mayCheck(ctx context.Context, name string) (bool, error) {
	existing, err := p.Cloud.Service(ctx, name)
	if cloud.Is(err, cloud.NotFound) {
		return true, nil
	}
	return err == nil && (!p.Cloud.Owned(existing) || len(existing.OwnerReferences) > 0), err
}

// EnsureLoadBalancerDeleted removes all of a load balancer, whatever of it is left.
func (p *Provider) EnsureLoadBalancerDeleted(ctx context.Context, clusterName string, service *corev1.Service) error {
	name := p.GetLoadBalancerName(ctx, clusterName, service)
	record := p.balanced(service.UID)
	record.mu.Lock()
	defer record.mu.Unlock()
	served, err := p.servesChecks(ctx, true)
	if err != nil {
		return err
	}
	if served {
		if err := p.Cloud.DeleteHealthchecks(ctx, name); err != nil {
			return err
		}
	}
	if err := p.deleteService(ctx, name, served); err != nil {
		return err
	}
	if err := p.label(ctx, name, nil); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	record.nodes, record.removed = nil, true
	delete(p.services, service.UID)
	return nil
}

// deleteService removes a Service of ours. One that a load balancer with checks made goes with it.
func (p *Provider) deleteService(ctx context.Context, name string, served bool) error {
	existing, err := p.Cloud.Service(ctx, name)
	if cloud.Is(err, cloud.NotFound) {
		return nil
	} else if err != nil {
		return err
	}
	if served && len(existing.OwnerReferences) > 0 && !p.Cloud.Owned(existing) {
		return nil
	}
	return p.Cloud.DeleteService(ctx, name)
}
