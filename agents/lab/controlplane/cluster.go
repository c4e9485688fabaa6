// Package controlplane runs one Kubernetes control plane of a lab as local processes: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, and kwok, which plays the nodes.
//
// Nothing but the API server listens on a port: etcd has a unix socket, the controller manager
// and the scheduler serve nothing, and the API server reaches kubelets through a unix socket too.
package controlplane

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"

	"commander/agents/lab/build"
	"commander/agents/lab/process"
)

// Settings are what a control plane is made of. All but Version and Port are fixed at its birth.
type Settings struct {
	Name          string `json:"name"`    // id of the cluster
	Version       string `json:"version"` // of Kubernetes, like 1.37
	PodSubnet     string `json:"podSubnet"`
	ServiceSubnet string `json:"serviceSubnet"`
	Domain        string `json:"domain"` // of services, like cluster.local
	// Port of the API server on the loopback interface; 0 until it is chosen.
	Port int `json:"port"`
}

// Names of the processes, as they appear in statuses and log files.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
)

// Components lists the processes of a control plane in the order in which they stop: nobody
// outlives what it talks to. An API server whose etcd is gone would linger for a minute.
var Components = []string{Kwok, Scheduler, ControllerManager, APIServer, Etcd}

// Cluster is one control plane. Start and Stop are to be called by one caller at a time.
type Cluster struct {
	dir    string
	ports  *Ports
	log    *slog.Logger
	Keeper *process.Keeper // of the cluster's directory; other programs beside the cluster use it too
	// onChange is told when the settings were changed from inside, so that they can be saved.
	onChange func(Settings)

	mu       sync.Mutex // protects settings
	settings Settings
}

// Open makes the control plane of a directory known without touching its processes. onChange is
// called, possibly from another goroutine, when the port of the API server had to be changed.
func Open(dir string, s Settings, ports *Ports, log *slog.Logger, onChange func(Settings)) (*Cluster, error) {
	keeper, err := process.NewKeeper(dir, log)
	if err != nil {
		return nil, err
	}
	return &Cluster{dir: dir, settings: s, ports: ports, log: log, Keeper: keeper, onChange: onChange}, nil
}

// Settings returns what the control plane is made of now.
func (c *Cluster) Settings() Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings
}

// SetVersion chooses the version that the next Start brings up.
func (c *Cluster) SetVersion(minor string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settings.Version = minor
}

// Start brings the control plane up, or to other programs, and returns when it is ready: the API
// server says so and the controller manager has done its first work. It may be called again at
// any time; what runs as wanted is left alone. say gets a line for people at each step.
func (c *Cluster) Start(ctx context.Context, p build.Programs, say func(string)) error {
	s := c.Settings()
	serviceIP, err := firstServiceIP(s.ServiceSubnet)
	if err != nil {
		return err
	}
	if err := ensurePKI(c.file("pki"), s.Name, serviceIP); err != nil {
		return err
	}
	if err := c.writeConfigs(); err != nil {
		return err
	}
	if s.Port != 0 {
		c.ports.claim(s.Name, s.Port)
	}
	if err := c.Keeper.Ensure(ctx, Etcd, c.etcd(p.Etcd)); err != nil {
		return err
	}
	if err := c.waitEtcd(ctx); err != nil {
		return err
	}
	say("etcd is up")
	if err := c.Keeper.Ensure(ctx, APIServer, c.apiServer(p.APIServer)); err != nil {
		return err
	}
	// It takes a while before it asks the API server for the first time, so it comes up meanwhile.
	if err := c.Keeper.Ensure(ctx, ControllerManager, c.controllerManager(p.ControllerManager)); err != nil {
		return err
	}
	if err := c.waitAPIServer(ctx); err != nil {
		return err
	}
	say(fmt.Sprintf("kube-apiserver %s is ready at %s", p.Version, c.address()))
	// These would be refused before the API server has its roles, and then wait before they ask again.
	if err := c.Keeper.Ensure(ctx, Scheduler, c.scheduler(p.Scheduler)); err != nil {
		return err
	}
	if err := c.Keeper.Ensure(ctx, Kwok, c.kwok(p.Kwok)); err != nil {
		return err
	}
	if err := c.waitControllers(ctx); err != nil {
		return err
	}
	say("kube-controller-manager, kube-scheduler and kwok are at work")
	return nil
}

// Stop ends all processes in order and keeps the data. When ctx ends, what is left is killed.
func (c *Cluster) Stop(ctx context.Context) error {
	for _, name := range Components {
		if err := c.Keeper.Stop(ctx, name); err != nil {
			return err
		}
	}
	s := c.Settings()
	c.ports.release(s.Name, s.Port)
	return nil
}

// moved is called when the API server has another port than before: everybody who talks to it
// starts again, to read the new address.
func (c *Cluster) moved() {
	for _, p := range c.Keeper.Status() {
		if p.Name != Etcd && p.Name != APIServer {
			c.Keeper.Restart(p.Name)
		}
	}
}

// Running tells whether all processes of the control plane run.
func (c *Cluster) Running() bool {
	running := 0
	for _, p := range c.Keeper.Status() {
		if p.PID != 0 && slices.Contains(Components, p.Name) {
			running++
		}
	}
	return running == len(Components)
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }
func (c *Cluster) pki(name string) string  { return filepath.Join(c.dir, "pki", name) }

func (c *Cluster) address() string {
	return fmt.Sprintf("https://%s:%d", host, c.Settings().Port)
}

// firstServiceIP is the address of the service "kubernetes": the first one of the subnet.
func firstServiceIP(subnet string) (net.IP, error) {
	prefix, err := netip.ParsePrefix(subnet)
	if err != nil {
		return nil, fmt.Errorf("read service subnet: %w", err)
	}
	return prefix.Masked().Addr().Next().AsSlice(), nil
}
