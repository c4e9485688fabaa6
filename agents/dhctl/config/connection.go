package config

import (
	"errors"
	"fmt"
)

// Connection is how an engine reaches the first machine of a cluster. All of it may be empty:
// some kinds of cluster are reached without SSH.
type Connection struct {
	SSHConfig *SSHConfig `json:"sshConfig,omitempty"`
	SSHHosts  []SSHHost  `json:"sshHosts,omitempty"`
}

// SSHConfig is the document of that name.
type SSHConfig struct {
	APIVersion          string          `json:"apiVersion"`
	Kind                string          `json:"kind"`
	SSHUser             string          `json:"sshUser"`
	SSHPort             *int            `json:"sshPort,omitempty"`
	SSHExtraArgs        string          `json:"sshExtraArgs,omitempty"`
	SSHAgentPrivateKeys []SSHPrivateKey `json:"sshAgentPrivateKeys,omitempty"`
	SSHBastionHost      string          `json:"sshBastionHost,omitempty"`
	SSHBastionPort      *int            `json:"sshBastionPort,omitempty"`
	SSHBastionUser      string          `json:"sshBastionUser,omitempty"`
	SudoPassword        string          `json:"sudoPassword,omitempty"`
}

// SSHPrivateKey is a key and the passphrase that opens it.
type SSHPrivateKey struct {
	Key        string `json:"key"`
	Passphrase string `json:"passphrase,omitempty"`
}

// SSHHost is a machine to connect to.
type SSHHost struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Host       string `json:"host"`
}

// ParseConnection reads the documents SSHConfig and SSHHost.
func ParseConnection(text string, strict, needHost bool) (Connection, error) {
	docs, err := Documents(text)
	if err != nil {
		return Connection{}, err
	}
	var c Connection
	var all []error
	for _, d := range docs {
		switch d.Kind {
		case "SSHConfig":
			if c.SSHConfig != nil {
				all = append(all, errors.New("SSHConfig: there is more than one"))
			}
			c.SSHConfig = &SSHConfig{}
			all = append(all, wrap("SSHConfig", decode(d.Raw, strict, c.SSHConfig)), c.SSHConfig.check())
		case "SSHHost":
			var h SSHHost
			all = append(all, wrap("SSHHost", decode(d.Raw, strict, &h)))
			if h.Host == "" {
				all = append(all, errors.New("SSHHost: host: required"))
			}
			c.SSHHosts = append(c.SSHHosts, h)
		default:
			all = append(all, fmt.Errorf("%s: not a document about connections", d.Kind))
		}
	}
	if needHost && len(c.SSHHosts) == 0 {
		all = append(all, errors.New("SSHHost: at least one is required"))
	}
	if len(c.SSHHosts) > 0 && c.SSHConfig == nil {
		all = append(all, errors.New("SSHConfig: required when there are hosts"))
	}
	return c, errors.Join(all...)
}

func (c *SSHConfig) check() error {
	var all []error
	if c.SSHUser == "" {
		all = append(all, errors.New("SSHConfig: sshUser: required"))
	}
	for field, port := range map[string]*int{"sshPort": c.SSHPort, "sshBastionPort": c.SSHBastionPort} {
		if port != nil && (*port < 1 || *port > 65535) {
			all = append(all, fmt.Errorf("SSHConfig: %s: %d is not a port", field, *port))
		}
	}
	for i, k := range c.SSHAgentPrivateKeys {
		if k.Key == "" {
			all = append(all, fmt.Errorf("SSHConfig: sshAgentPrivateKeys[%d].key: required", i))
		}
	}
	return errors.Join(all...)
}

func wrap(kind string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}
