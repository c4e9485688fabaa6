// Package runner is bashible on a node: it fetches what its group's nodes shall be and runs the
// steps that make this one so, when it may. It is small on purpose: it runs every minute on every
// node, and nearly always finds nothing to do.
package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Settings come from bashible.sh, which is rendered for the group, and from the command line.
type Settings struct {
	Group      string   `flag:"node-group" help:"group of this node; the label of the Node wins"`
	Checksum   string   `flag:"checksum" help:"checksum of the configuration that the group shall have"`
	APIServers []string `flag:"api-servers" help:"host:port of API servers, tried in turn if the configured one does not answer"`

	Local      bool `flag:"local" help:"run the steps that are on the disk and fetch nothing"`
	NoLock     bool `flag:"no-lock" help:"do not take the lock: the caller holds it"`
	MaxRetries int  `flag:"max-retries" default:"0" help:"give up after so many failures of a step or a request; 0 means never"`
	Updated    bool `flag:"updated" help:"this is the newest script already"`

	State       string        `flag:"state-dir" default:"/var/lib/bashible" help:"folder of scripts, steps and what is known of past runs"`
	LockFile    string        `flag:"lock-file" default:"/var/lock/bashible" help:"held by the run that is under way"`
	KubeletConf string        `flag:"kubelet-conf" default:"/etc/kubernetes/kubelet.conf" help:"kubeconfig of kubelet; once it is there the node acts as itself"`
	KubeletCert string        `flag:"kubelet-cert" default:"/var/lib/kubelet/pki/kubelet-client-current.pem" help:"certificate and key of the node"`
	Uptime      string        `flag:"uptime-file" default:"/proc/uptime" help:"seconds since the machine started"`
	Pause       time.Duration `flag:"pause" default:"10s" help:"time between tries and between looks"`
	Shell       string        `flag:"shell" default:"/bin/bash" help:"what runs the steps"`

	Packages      []string `flag:"packages-proxy-addresses" help:"host:port of package servers"`
	PackagesToken string   `flag:"packages-proxy-token" secret:"true" help:"what they ask for"`
	PackagesCA    string   `flag:"packages-proxy-ca" default:"/var/lib/bashible/ca.crt" help:"authority that their certificates come from"`
	PackagesDir   string   `flag:"packages-dir" default:"/var/cache/registrypackages" help:"what is installed, and downloads"`
}

// Prefix is that of the settings' environment variables.
const Prefix = "BASHIBLE_"

// Validate finds what no run can do without.
func (s *Settings) Validate() error {
	if s.Pause <= 0 {
		return fmt.Errorf("--pause must be longer than nothing")
	}
	return nil
}

// Files in the folder of state.
const (
	scriptFile      = "bashible.sh"
	newScriptFile   = "bashible-new.sh"
	libraryFile     = "bashbooster.sh"
	stepsDir        = "bundle_steps"
	checksumFile    = "configuration_checksum"
	uptimeFile      = "uptime"
	firstRunFile    = "first_run"
	initializedFile = "bashible-fully-initialized"
	tokenFile       = "bootstrap-token"
	caFile          = "ca.crt"
	stepLog         = "step.log"
	debugLog        = "step.debug.log"
	nodeNameFile    = "discovered-node-name"
	machineFile     = "machine-name"
	conditionsFile  = "conditions.json"
	flagsDir        = "flags"
)

func (s *Settings) file(name string) string { return filepath.Join(s.State, name) }

func (s *Settings) has(name string) bool {
	_, err := os.Stat(s.file(name))
	return err == nil
}

// read is the content of a file of the state without blanks around; empty if there is none.
func (s *Settings) read(name string) string {
	text, err := os.ReadFile(s.file(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// write replaces a file at once: a crash leaves the old or the new content.
func (s *Settings) write(name string, text []byte, mode os.FileMode) error {
	target := s.file(name)
	temporary := target + ".tmp"
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary, target)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// nodeName is what was discovered while the machine was made, or the host's name as kubelet has it.
func (s *Settings) nodeName() (string, error) {
	if name := s.read(nodeNameFile); name != "" {
		return name, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find name of the node: %w", err)
	}
	return strings.ToLower(name), nil
}
