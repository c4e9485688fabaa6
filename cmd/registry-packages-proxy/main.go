// Command registry-packages-proxy gives nodes their packages: by digest, to who may, over TLS.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"commander/agents/node/packages"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/guard"
	"commander/internal/oci"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Listen     string `flag:"listen" default:":4219" help:"address that nodes ask"`
	Health     string `flag:"health-probe-bind-address" default:"127.0.0.1:4218" help:"address of /healthz, /readyz and /metrics"`
	CertFile   string `flag:"tls-cert-file" required:"true" help:"certificate for the name registry-packages-proxy"`
	KeyFile    string `flag:"tls-private-key-file" required:"true" help:"its key"`
	Dir        string `flag:"dir" required:"true" help:"folder of packages, each in a file of the name of its digest"`
	Registry   string `flag:"registry" help:"host and path of the repository that has what is not in the folder; empty means none"`
	Scheme     string `flag:"registry-scheme" default:"https" oneof:"https http" help:"scheme of the registry"`
	User       string `flag:"registry-username" help:"user at the registry"`
	Password   string `flag:"registry-password" secret:"true" help:"password at the registry"`
	CA         string `flag:"registry-ca" help:"file with the registry's authority in PEM; empty means those of the system"`
	Kubeconfig string `flag:"kubeconfig" env:"KUBECONFIG" help:"how to reach the API server; empty means as a pod of the cluster"`
	LogLevel   string `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

func main() { run.Main("registry-packages-proxy", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("REGISTRY_PACKAGES_PROXY_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "registry-packages-proxy")
	if err != nil {
		return err
	}
	settings, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	client, err := kubernetes.NewForConfig(settings)
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	server := &packages.Server{Dir: o.Dir, Log: log}
	if o.Registry != "" {
		registry, err := o.registry()
		if err != nil {
			return err
		}
		defer registry.Close()
		server.Upstream = registry.Blob
	}
	tls, err := guard.TLS(o.CertFile, o.KeyFile, "registry-packages-proxy", clock.System{})
	if err != nil {
		return err
	}
	may := authorizationv1.ResourceAttributes{Group: "bashible.deckhouse.io", Resource: "packages", Verb: "get"}
	var group run.Group
	for name, s := range map[string]struct {
		address string
		server  *http.Server
	}{
		"packages": {o.Listen, &http.Server{Handler: guard.New(client, may, clock.System{}).Handler(server), TLSConfig: tls, ReadHeaderTimeout: 10 * time.Second}},
		"health":   {o.Health, &http.Server{Handler: telemetry.NewHealth(telemetry.Registry()).Handler(), ReadHeaderTimeout: 10 * time.Second}},
	} {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
		if err != nil {
			return fmt.Errorf("listen for %s: %w", name, err)
		}
		group.Add(name, run.Serve(s.server, listener))
	}
	log.Info("started", config.Describe(o)...)
	return group.Run(ctx)
}

func (o options) registry() (*oci.Client, error) {
	at := oci.Repository{Scheme: o.Scheme, Username: o.User, Password: o.Password}
	at.Host, at.Path, _ = strings.Cut(o.Registry, "/")
	if o.CA != "" {
		ca, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("read authority of the registry: %w", err)
		}
		at.CA = string(ca)
	}
	return oci.New(at)
}
