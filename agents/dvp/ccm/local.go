package ccm

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// With externalTrafficPolicy Local only machines with a pod of the Service may get its traffic.
// kube-proxy answers for it on the node: 200 on the Service's health check port if there is one.

const (
	// probeBound is how long a machine may take to answer.
	probeBound = 3 * time.Second
	// probesAtOnce bounds the connections that are open at a time.
	probesAtOnce = 16
	// lookAgain is from one look at a Service to the next. kube-proxy's answer follows the change of
	// endpoints, which we are told of, within moments.
	lookAgain = 5 * time.Second
)

// withPods are the members whose node answers that it has a pod.
func (p *Provider) withPods(ctx context.Context, members map[string]*v1alpha2.VirtualMachine, port int32) map[string]*v1alpha2.VirtualMachine {
	var all sync.WaitGroup
	var mu sync.Mutex // protects found
	found := map[string]*v1alpha2.VirtualMachine{}
	slots := make(chan struct{}, probesAtOnce)
	for name, m := range members {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if p.answers(ctx, m.Status.IPAddress, port) {
				mu.Lock()
				defer mu.Unlock()
				found[name] = m
			}
		})
	}
	all.Wait()
	return found
}

func (p *Provider) answers(ctx context.Context, address string, port int32) bool {
	if address == "" {
		return false
	}
	url := "http://" + net.JoinHostPort(address, strconv.Itoa(int(port))) + "/healthz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := p.HTTP.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// FollowEndpoints makes the actor that chooses machines anew where pods moved.
func (p *Provider) FollowEndpoints(factory informers.SharedInformerFactory) (func(context.Context) error, error) {
	services, slices := factory.Core().V1().Services(), factory.Discovery().V1().EndpointSlices()
	lister, synced := services.Lister(), services.Informer().HasSynced
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
		workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "dvp-local-endpoints"})
	add := func(object any) {
		if slice, ok := object.(*discoveryv1.EndpointSlice); ok && slice.Labels[discoveryv1.LabelServiceName] != "" {
			queue.Add(cache.NewObjectName(slice.Namespace, slice.Labels[discoveryv1.LabelServiceName]))
		}
	}
	_, err := slices.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, now any) { add(now) },
		DeleteFunc: func(object any) {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			add(object)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("follow endpoints: %w", err)
	}
	return func(ctx context.Context) error {
		if !cache.WaitForCacheSync(ctx.Done(), synced, slices.Informer().HasSynced) {
			return nil
		}
		stop := context.AfterFunc(ctx, queue.ShutDown)
		defer stop()
		for {
			name, quit := queue.Get()
			if quit {
				return nil
			}
			again, err := p.lookAt(ctx, lister, name)
			switch {
			case err != nil && ctx.Err() == nil:
				klog.ErrorS(err, "Local load balancer not updated", "service", name)
				queue.AddRateLimited(name)
			case again:
				queue.Forget(name)
				queue.AddAfter(name, lookAgain)
			default:
				queue.Forget(name)
			}
			queue.Done(name)
		}
	}, nil
}

// lookAt chooses the machines of one Service anew. It says whether the Service is one to look at again.
func (p *Provider) lookAt(ctx context.Context, lister corelisters.ServiceLister, name cache.ObjectName) (again bool, err error) {
	service, err := lister.Services(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	local := service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.Spec.LoadBalancerClass == nil && service.Spec.HealthCheckNodePort != 0
	if !local || !service.DeletionTimestamp.IsZero() {
		return false, nil
	}
	record := p.found(service.UID)
	if record == nil { // the service controller has not come to it, or has removed it
		return true, nil
	}
	record.mu.Lock()
	defer record.mu.Unlock()
	if len(record.nodes) == 0 {
		return true, nil
	}
	return true, p.choose(ctx, p.GetLoadBalancerName(ctx, "", service), service, record.nodes)
}
