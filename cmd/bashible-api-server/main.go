// Command bashible-api-server gives each node the configuration of its group, behind the API
// server of the cluster. Any number of replicas may run: from the same input they make the same.
package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"commander/agents/node/bashible/apiserver"
	"commander/agents/node/bashible/bundles"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Listen     string `flag:"listen" default:":4221" help:"address of the API"`
	CertFile   string `flag:"tls-cert-file" required:"true" help:"certificate for bashible-api.d8-cloud-instance-manager.svc"`
	KeyFile    string `flag:"tls-private-key-file" required:"true" help:"its key"`
	Templates  string `flag:"templates" help:"folder of the templates; empty means those that the program brings"`
	Digests    string `flag:"images-digests" default:"/var/files/images_digests.json" help:"digests of packages and images; its folder must be there"`
	Versions   string `flag:"version-map" default:"/var/files/version_map.yml" help:"versions of what nodes run; its folder must be there"`
	Dump       string `flag:"dump" help:"folder for context.yaml and context.error, to see what was rendered; it will hold secrets"`
	Kubeconfig string `flag:"kubeconfig" env:"KUBECONFIG" help:"how to reach the API server; empty means as a pod of the cluster"`
	LogLevel   string `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

func main() { run.Main("bashible-api-server", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("BASHIBLE_API_SERVER_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "bashible-api-server")
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	klog.SetSlogLogger(log)
	cluster, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	// The API server itself shares out what it can do. The client's own limit, five requests a second,
	// would make five hundred groups wait for minutes.
	cluster.QPS = -1
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	var templates fs.FS = bundles.Files
	if o.Templates != "" {
		templates = os.DirFS(o.Templates)
	}
	log.Info("started", config.Describe(o)...)
	return apiserver.Run(ctx, apiserver.Options{
		Listen:  apiserver.Listen{Listener: listener, CertFile: o.CertFile, KeyFile: o.KeyFile, Kubeconfig: o.Kubeconfig},
		Cluster: cluster, Templates: templates, DigestsFile: o.Digests, VersionsFile: o.Versions, Dump: o.Dump,
		Clock: clock.System{}, Log: log,
	})
}
