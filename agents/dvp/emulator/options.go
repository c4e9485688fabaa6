package emulator

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Options are the knobs of an emulator that count for all projects.
type Options struct {
	Config *rest.Config // of an administrator
	Log    *slog.Logger

	Nodes          []string       // names of the nodes that machines run on
	MachineRanges  []netip.Prefix // addresses for machines
	BalancerRange  netip.Prefix   // addresses for Services of type LoadBalancer
	LeaseRetention time.Duration  // how long a released address is not given again
	EvictionDelay  time.Duration  // before the first retry of an evacuation; it doubles
	Delays         Delays
	Guests         Guests // what machines have inside; nil for nothing
	// WebhookListen is where the API server reaches the webhooks; the host must be an address that
	// is this machine as seen from the API server.
	WebhookListen string
}

// Defaults are the options of a quick demonstration.
func Defaults() Options {
	return Options{
		Log:            slog.New(slog.DiscardHandler),
		Nodes:          []string{"dvp-node-1", "dvp-node-2"},
		MachineRanges:  []netip.Prefix{netip.MustParsePrefix("10.66.0.0/16")},
		BalancerRange:  netip.MustParsePrefix("10.67.0.0/24"),
		LeaseRetention: 10 * time.Minute,
		EvictionDelay:  5 * time.Second,
		Delays: Delays{
			Start: 3 * time.Second, Stop: 2 * time.Second, Provision: 2 * time.Second, Resize: time.Second,
			Attach: time.Second, Detach: time.Second, Migrate: 3 * time.Second, DeleteDisk: time.Second,
		},
		WebhookListen: "127.0.0.1:0",
	}
}

// Delays are how long steps take. An annotation on an object or its namespace overrides them:
// emulator.dvp/delays: start=10s,attach=1m.
type Delays struct {
	Start      time.Duration // from the pod to the running guest
	Stop       time.Duration // of the guest; never longer than its grace period
	Provision  time.Duration // of a volume, or of an image
	Resize     time.Duration
	Attach     time.Duration
	Detach     time.Duration
	Migrate    time.Duration // of a machine, or of a disk to another class
	DeleteDisk time.Duration
}

// Set takes changes as the annotation has them.
func (d *Delays) Set(changes string) error {
	for change := range strings.SplitSeq(changes, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(change), "=")
		if name == "" {
			continue
		}
		took, err := time.ParseDuration(value)
		if err != nil || took < 0 {
			return fmt.Errorf("read delay %q: it needs a duration", change)
		}
		switch name {
		case "start":
			d.Start = took
		case "stop":
			d.Stop = took
		case "provision":
			d.Provision = took
		case "resize":
			d.Resize = took
		case "attach":
			d.Attach = took
		case "detach":
			d.Detach = took
		case "migrate":
			d.Migrate = took
		case "delete-disk":
			d.DeleteDisk = took
		default:
			return fmt.Errorf("read delay %q: no step has this name", name)
		}
	}
	return nil
}
