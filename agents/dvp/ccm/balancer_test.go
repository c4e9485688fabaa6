package ccm

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// pods answers as kube-proxy on the nodes does: which addresses have pods of a Service.
type pods struct {
	sync.Mutex // protects with
	with       map[string]bool
}

func (p *pods) set(addresses ...string) {
	p.Lock()
	defer p.Unlock()
	p.with = map[string]bool{}
	for _, a := range addresses {
		p.with[a] = true
	}
}

func (p *pods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.Lock()
	defer p.Unlock()
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil || r.URL.Path != "/healthz" || !p.with[host] {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// client reaches them under the addresses of machines, which no network leads to.
func (p *pods) client(t *testing.T) *http.Client {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return &http.Client{Timeout: probeBound, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}}}
}

// selected are the names of machines that a load balancer has.
func (c *cluster) selected(key string) []string {
	c.t.Helper()
	var machines v1alpha2.VirtualMachineList
	if err := c.List(c.t.Context(), &machines, client.InNamespace(c.Namespace), client.MatchingLabels{key: "loadbalancer"}); err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for i := range machines.Items {
		names = append(names, machines.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

func (c *cluster) awaitSelected(key string, want ...string) {
	c.t.Helper()
	var got []string
	defer func() {
		if c.t.Failed() {
			c.t.Logf("got %v, want %v", got, want)
		}
	}()
	c.Eventually("machines in the load balancer: "+strings.Join(want, " "), func(context.Context) bool {
		got = c.selected(key)
		return slices.Equal(got, want)
	})
}

func (c *cluster) service(name string, change func(*corev1.Service)) *corev1.Service {
	c.t.Helper()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": name},
		Ports: []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80}},
	}}
	if change != nil {
		change(s)
	}
	s, err := c.client.CoreV1().Services("default").Create(c.t.Context(), s, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// parent is the Service in DVP that a Service of the cluster has.
func (c *cluster) parent(s *corev1.Service) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: cloudprovider.DefaultLoadBalancerName(s)}}
}

// awaitService waits until a Service of the cluster is as a test says.
func (c *cluster) awaitService(name, what string, so func(*corev1.Service) bool) *corev1.Service {
	c.t.Helper()
	var s *corev1.Service
	c.Eventually("service "+name+": "+what, func(ctx context.Context) bool {
		var err error
		s, err = c.client.CoreV1().Services("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && so(s)
	})
	return s
}

func (c *cluster) patch(name, patch string) {
	c.t.Helper()
	if _, err := c.client.CoreV1().Services("default").Patch(c.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) event(name, words string) {
	c.t.Helper()
	c.Eventually("an event of "+name+": "+words, func(ctx context.Context) bool {
		events, err := c.client.CoreV1().Events("default").List(ctx, metav1.ListOptions{})
		return err == nil && slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.InvolvedObject.Name == name && strings.Contains(e.Message, words)
		})
	})
}

func addressed(s *corev1.Service) bool { return len(s.Status.LoadBalancer.Ingress) == 1 }

// One story, for all Services have the nodes of the cluster in common.
func TestLoadBalancers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, CloudNode, CloudNodeLifecycle, ServiceLB)
	answers := new(pods)
	c.provider.HTTP = answers.client(t)

	early := c.service("early", nil)
	c.event("early", "no nodes for it")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(c.parent(early)), c.parent(early)); !apierrors.IsNotFound(err) {
		t.Errorf("without nodes: got %v, want no load balancer", err)
	}

	foreign := c.DVP.Machine("foreign", "foreign")
	foreign.Labels = map[string]string{cloud.LabelHostname: "n1", cloud.LabelClusterUUID: "other", "dvp.deckhouse.io/a": "loadbalancer"}
	c.Make(foreign)
	m1, m2 := c.machine("n1", "n1"), c.machine("n2-a1b2c3", "n2")
	c.node("n1")
	c.node("n2")
	c.awaitNode("n1", "open", func(n *corev1.Node) bool { return !closed(n) })
	c.awaitNode("n2", "open", func(n *corev1.Node) bool { return !closed(n) })

	c.service("web", func(s *corev1.Service) {
		s.Annotations = map[string]string{"metallb.universe.tf/address-pool": "public", "old": "x"}
		s.Spec.Ports = []corev1.ServicePort{{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53}, {Name: "dns-tcp", Protocol: corev1.ProtocolTCP, Port: 53}}
		s.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"}
		s.Spec.ExternalIPs = []string{"192.0.2.1"}
	})
	s := c.awaitService("web", "an address", addressed)
	parent := c.parent(s)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(parent), parent); err != nil {
		t.Fatal(err)
	}
	key := "dvp.deckhouse.io/" + parent.Name
	if len(parent.Name) != 32 || !strings.HasPrefix(parent.Name, "a") || !maps.Equal(parent.Spec.Selector, map[string]string{key: "loadbalancer"}) {
		t.Errorf("got name %s, selector %v", parent.Name, parent.Spec.Selector)
	}
	if s.Status.LoadBalancer.Ingress[0].IP != parent.Status.LoadBalancer.Ingress[0].IP {
		t.Errorf("got address %v, want DVP's %v", s.Status.LoadBalancer.Ingress, parent.Status.LoadBalancer.Ingress)
	}
	for i, port := range parent.Spec.Ports {
		if want := s.Spec.Ports[i]; port.Name != want.Name || port.Protocol != want.Protocol || port.Port != 53 || port.TargetPort.IntVal != want.NodePort {
			t.Errorf("got port %+v, want it to lead to %+v", port, want)
		}
	}
	if len(parent.Spec.Ports) != 2 || parent.Annotations["metallb.universe.tf/address-pool"] != "public" || parent.Spec.LoadBalancerSourceRanges[0] != "10.0.0.0/8" || parent.Spec.ExternalIPs[0] != "192.0.2.1" {
		t.Errorf("got %+v, %v, want all of the Service", parent.Spec, parent.Annotations)
	}
	c.awaitSelected(key, "n1", "n2-a1b2c3")

	t.Run("change", func(t *testing.T) {
		// Others write to the same object, as balancers do.
		conflicts := 0
		c.faults.set(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPut || conflicts == 3 {
				return nil, nil
			}
			conflicts++
			answer, err := status(http.StatusConflict, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`)(r)
			answer.Header.Set("Content-Type", "application/json")
			return answer, err
		})
		c.patch("web", `{"metadata":{"annotations":{"old":null,"new":"y"}},"spec":{"ports":[{"name":"dns","protocol":"UDP","port":53},{"name":"https","protocol":"TCP","port":443}]}}`)
		c.Eventually("the change in DVP", func(ctx context.Context) bool {
			err := c.Get(ctx, client.ObjectKeyFromObject(parent), parent)
			_, old := parent.Annotations["old"]
			return err == nil && len(parent.Spec.Ports) == 2 && parent.Spec.Ports[1].Port == 443 && parent.Annotations["new"] == "y" && !old
		})
		c.faults.set(none)
		if conflicts != 3 {
			t.Errorf("got %d conflicts, want 3 that were overcome", conflicts)
		}
	})

	t.Run("members", func(t *testing.T) {
		c.node("without-machine")
		c.patch("web", `{"metadata":{"annotations":{"touched":"z"}}}`)
		c.Eventually("the change in DVP", func(ctx context.Context) bool {
			return c.Get(ctx, client.ObjectKeyFromObject(parent), parent) == nil && parent.Annotations["touched"] == "z"
		})
		c.awaitSelected(key, "n1", "n2-a1b2c3")
		exclude := `{"metadata":{"labels":{"node.kubernetes.io/exclude-from-external-load-balancers":"true"}}}`
		if _, err := c.client.CoreV1().Nodes().Patch(t.Context(), "n2", types.MergePatchType, []byte(exclude), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		c.awaitSelected(key, "n1")
		if _, err := c.client.CoreV1().Nodes().Patch(t.Context(), "n2", types.MergePatchType, []byte(strings.Replace(exclude, `"true"`, "null", 1)), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		c.awaitSelected(key, "n1", "n2-a1b2c3")
	})

	t.Run("local", func(t *testing.T) {
		answers.set(m1.Status.IPAddress)
		local := c.service("local", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal })
		c.awaitService("local", "an address", addressed)
		own := "dvp.deckhouse.io/" + c.parent(local).Name
		c.awaitSelected(own, "n1")
		answers.set(m2.Status.IPAddress) // its pod moved, and so did its endpoints
		slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "local", Labels: map[string]string{discoveryv1.LabelServiceName: "local"}}, AddressType: discoveryv1.AddressTypeIPv4}
		if _, err := c.client.DiscoveryV1().EndpointSlices("default").Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.awaitSelected(own, "n2-a1b2c3")
		c.awaitSelected(key, "n1", "n2-a1b2c3")
	})

	t.Run("no address", func(t *testing.T) {
		taken := parent.Status.LoadBalancer.Ingress[0].IP
		waiting := c.service("waiting", func(s *corev1.Service) { s.Spec.LoadBalancerIP = taken })
		c.event("waiting", "has no address from DVP yet")
		c.patch("waiting", `{"spec":{"loadBalancerIP":null}}`)
		c.awaitService("waiting", "an address", addressed)
		if err := c.client.CoreV1().Services("default").Delete(t.Context(), "waiting", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.AwaitGone(c.parent(waiting))
	})
	t.Run("checks", func(t *testing.T) { testChecks(t, c) })

	t.Run("end", func(t *testing.T) {
		c.patch("local", `{"spec":{"type":"ClusterIP","externalTrafficPolicy":null,"allocateLoadBalancerNodePorts":null}}`)
		if err := c.client.CoreV1().Services("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.AwaitGone(parent)
		c.awaitSelected(key)
		c.Eventually("the Service is gone", func(ctx context.Context) bool {
			_, err := c.client.CoreV1().Services("default").Get(ctx, "web", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
		c.awaitService("local", "no address", func(s *corev1.Service) bool { return !addressed(s) && len(s.Finalizers) == 0 })
		for range 2 { // of what is gone
			if err := c.provider.EnsureLoadBalancerDeleted(t.Context(), "", s); err != nil {
				t.Error(err)
			}
		}
		// The service controller may have begun to tell of new nodes before.
		nodes := []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}
		if err := c.provider.UpdateLoadBalancer(t.Context(), "", s, nodes); err != nil || len(c.selected(key)) > 0 {
			t.Errorf("a load balancer that is gone got machines %v, %v, want none", c.selected(key), err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil || foreign.Labels["dvp.deckhouse.io/a"] == "" {
			t.Errorf("got %v, %v, want another cluster's machine untouched", foreign.Labels, err)
		}
		if got, exists, err := c.provider.GetLoadBalancer(t.Context(), "", s); exists || err != nil {
			t.Errorf("got %v, %v, %v, want nothing left", got, exists, err)
		}
	})
}
