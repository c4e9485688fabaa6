package emulator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/internal/run"
)

const (
	pathDefault  = "/default"
	pathValidate = "/validate"
)

// Emulator is a DVP that is ready to run.
type Emulator struct {
	world    *world
	manager  ctrl.Manager
	webhooks *http.Server
	listener net.Listener
}

// New installs DVP's kinds, nodes and webhooks and prepares the controllers. Nothing of its kinds
// can be made before Run is called, since the API server asks the webhooks.
func New(ctx context.Context, o Options) (*Emulator, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha2.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("prepare emulator: %w", err)
		}
	}
	direct, err := client.New(o.Config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reach API: %w", err)
	}
	if err := errors.Join(installKinds(ctx, direct), installNodes(ctx, direct, o.Nodes)); err != nil {
		return nil, err
	}
	all := true
	manager, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme: scheme, Logger: logr.FromSlogHandler(o.Log.Handler()), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &all}, // several emulators in one process are fine
	})
	if err != nil {
		return nil, fmt.Errorf("prepare emulator: %w", err)
	}
	e := &Emulator{manager: manager, world: &world{Client: manager.GetClient(), Options: o, live: manager.GetAPIReader(), guestChanges: make(chan event.GenericEvent)}}
	if err := e.addControllers(); err != nil {
		return nil, err
	}
	return e, e.addWebhooks(ctx, direct, scheme)
}

func (e *Emulator) addControllers() error {
	w := e.world
	for _, add := range []func(ctrl.Manager) error{
		machines{w}.setup, disks{w}.setup, attachments{w}.setup, addresses{w}.setup, leases{w}.setup, classes{w}.setup,
		operations{w}.setup, evacuations{w}.setup, services{w}.setup, quotas{w}.setup,
		projectImages(w).setup, clusterImages(w).setup,
		orphans[*v1alpha2.VirtualDisk]{w, "disk", func() *v1alpha2.VirtualDisk { return new(v1alpha2.VirtualDisk) }, &v1alpha2.VirtualDiskList{}}.setup,
		orphans[*attachment]{w, "attachment", func() *attachment { return new(attachment) }, &v1alpha2.VirtualMachineBlockDeviceAttachmentList{}}.setup,
		orphans[*v1alpha2.VirtualMachineIPAddress]{w, "address", func() *v1alpha2.VirtualMachineIPAddress { return new(v1alpha2.VirtualMachineIPAddress) }, &v1alpha2.VirtualMachineIPAddressList{}}.setup,
		orphans[*corev1.Secret]{w, "secret", func() *corev1.Secret { return new(corev1.Secret) }, &corev1.SecretList{}}.setup,
		orphans[*v1alpha2.VirtualMachineOperation]{w, "operation", func() *v1alpha2.VirtualMachineOperation { return new(v1alpha2.VirtualMachineOperation) }, &v1alpha2.VirtualMachineOperationList{}}.setup,
	} {
		if err := add(e.manager); err != nil {
			return fmt.Errorf("add controller: %w", err)
		}
	}
	return nil
}

func (e *Emulator) addWebhooks(ctx context.Context, c client.Client, scheme *runtime.Scheme) error {
	var err error
	if e.listener, err = net.Listen("tcp", e.world.WebhookListen); err != nil {
		return fmt.Errorf("listen for webhooks: %w", err)
	}
	host, _, err := net.SplitHostPort(e.listener.Addr().String())
	if err != nil {
		return fmt.Errorf("listen for webhooks: %w", err)
	}
	pair, authority, err := certificate(host)
	if err != nil {
		return err
	}
	judge, decoder := judge{c, e.world}, admission.NewDecoder(scheme)
	mux := http.NewServeMux()
	for path, handler := range map[string]admission.Handler{pathDefault: defaulter{judge, decoder}, pathValidate: validator{judge, decoder}} {
		hook, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handler}, admission.StandaloneOptions{Logger: logr.FromSlogHandler(e.world.Log.Handler())})
		if err != nil {
			return fmt.Errorf("make webhook: %w", err)
		}
		mux.Handle(path, hook)
	}
	e.webhooks = &http.Server{
		Handler: mux, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}},
		ReadHeaderTimeout: 10 * time.Second,
	}
	return installWebhooks(ctx, c, e.listener.Addr().String(), authority)
}

// Run acts as DVP until the context ends.
func (e *Emulator) Run(ctx context.Context) error {
	var group run.Group
	group.Add("webhooks", run.Serve(e.webhooks, e.listener))
	group.Add("controllers", e.manager.Start)
	if e.world.Guests != nil {
		group.Add("guests", e.world.followGuests(e.world.guestChanges))
	}
	return group.Run(ctx)
}
