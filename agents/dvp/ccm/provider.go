package ccm

import (
	"context"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"

	"commander/agents/dvp/cloud"
	"commander/internal/clock"
)

// Name is that of the provider, and the beginning of provider ids.
const Name = "dvp"

// Provider is what the controllers ask.
type Provider struct {
	Cloud *cloud.Cloud
	Clock clock.Clock
	// HTTP asks machines whether they have pods of a Service; see local.go.
	HTTP *http.Client
	// AddressBound is how long a controller waits for the address of a load balancer before it does
	// something else and comes back.
	AddressBound time.Duration

	mu       sync.Mutex // protects the rest
	services map[types.UID]*balanced
	checks   checksKnown
}

// balanced is a Service with a load balancer, from when that was asked for until it is removed.
type balanced struct {
	mu      sync.Mutex // held while its machines are being labelled; protects the others
	nodes   []*corev1.Node
	removed bool // for who has waited for the lock meanwhile
}

// New makes a provider as programs use it.
func New(c *cloud.Cloud) *Provider {
	return &Provider{Cloud: c, Clock: clock.System{}, HTTP: &http.Client{Timeout: probeBound}, AddressBound: 30 * time.Second}
}

// Initialize has nothing to begin.
func (p *Provider) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

// ProviderName tells the name.
func (p *Provider) ProviderName() string { return Name }

// HasClusterID is true: objects in DVP are marked with the cluster's uuid.
func (p *Provider) HasClusterID() bool { return true }

// LoadBalancer is supported.
func (p *Provider) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return p, true }

// InstancesV2 is supported.
func (p *Provider) InstancesV2() (cloudprovider.InstancesV2, bool) { return p, true }

// Instances is the older form of InstancesV2.
func (p *Provider) Instances() (cloudprovider.Instances, bool) { return nil, false }

// Zones is part of InstancesV2.
func (p *Provider) Zones() (cloudprovider.Zones, bool) { return nil, false }

// Clusters is not supported.
func (p *Provider) Clusters() (cloudprovider.Clusters, bool) { return nil, false }

// Routes is not supported: the pods' network is not DVP's.
func (p *Provider) Routes() (cloudprovider.Routes, bool) { return nil, false }

// checksBound is how long an answer holds whether DVP has load balancers with checks.
const checksBound = 5 * time.Minute

type checksKnown struct {
	served bool
	until  time.Time
}

// servesChecks says whether DVP has load balancers with checks. With anew it asks in any case.
func (p *Provider) servesChecks(ctx context.Context, anew bool) (bool, error) {
	p.mu.Lock()
	known := p.checks
	p.mu.Unlock()
	if !anew && p.Clock.Now().Before(known.until) {
		return known.served, nil
	}
	served, err := p.Cloud.ServesHealthchecks(ctx)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checks = checksKnown{served, p.Clock.Now().Add(checksBound)}
	return served, nil
}

// balanced finds the record of a Service, or begins one.
func (p *Provider) balanced(uid types.UID) *balanced {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.services == nil {
		p.services = map[types.UID]*balanced{}
	}
	if p.services[uid] == nil {
		p.services[uid] = new(balanced)
	}
	return p.services[uid]
}

// found is the record of a Service, or nil if it has no load balancer.
func (p *Provider) found(uid types.UID) *balanced {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.services[uid]
}
