// Command dvp-csi-driver is the CSI driver csi.dvp.deckhouse.io: its controller and its node part.
package main

import (
	"context"
	"errors"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	mount "k8s.io/mount-utils"
	utilexec "k8s.io/utils/exec"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"commander/agents/dvp/cloud"
	"commander/agents/dvp/csi"
	"commander/agents/dvp/rights"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Endpoint string `flag:"endpoint" default:"unix:///csi/csi.sock" help:"socket to serve on"`
	NodeName string `flag:"node-name" env:"NODE_ID" required:"true" help:"name of the Node that this machine is"`
	LogLevel string `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
	Cloud    cloud.Credentials
}

func main() { run.Main("dvp-csi-driver", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("DVP_CSI_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "dvp-csi-driver")
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log)
	ctrllog.SetLogger(logr.FromSlogHandler(log.Handler()))
	dvp, err := o.Cloud.Open()
	if err != nil {
		return run.Misuse(err)
	}
	if err := o.Cloud.CheckRights(ctx); errors.Is(err, rights.ErrMissing) {
		return err
	} else if err != nil {
		log.WarnContext(ctx, "rights are not known", "error", err)
	}
	listener, err := csi.Listen(o.Endpoint)
	if err != nil {
		return err
	}
	var group run.Group
	group.Add("csi", csi.Serve(
		listener, log,
		&csi.Identity{Version: version(), Cloud: dvp},
		&csi.Controller{Cloud: dvp},
		&csi.Node{Name: o.NodeName, Cloud: dvp, Mounts: mount.NewSafeFormatAndMount(mount.New(""), utilexec.New()), Device: csi.FindDevice},
	))
	log.Info("started", config.Describe(o)...)
	return group.Run(ctx)
}

func version() string {
	if built, ok := debug.ReadBuildInfo(); ok && built.Main.Version != "" {
		return built.Main.Version
	}
	return "unknown"
}
