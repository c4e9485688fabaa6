package config

import (
	"errors"
	"fmt"
	"net/url"
)

// The document by which Commander tells the engine of its agent. It is consumed by the engine
// and never becomes an object in the cluster.
const (
	agentKind       = "ModuleConfig"
	agentAPIVersion = "deckhouse.io/v1alpha1"
	agentName       = "commander-agent"
)

// Agent is what the agent of a cluster needs to find Commander and to be let in.
type Agent struct {
	CommanderURL string `json:"commanderUrl"`
	Token        string `json:"token"`
	CABundle     string `json:"caBundle"`
}

// Resources are the documents to be applied inside a cluster.
type Resources struct {
	Objects []Document
	// Agent is nil when the documents say nothing about it, or that it is not wanted.
	Agent *Agent
}

// ParseResources checks the documents to be applied. Errors name the document.
func ParseResources(text string, strict bool) (Resources, error) {
	docs, err := Documents(text)
	if err != nil {
		return Resources{}, err
	}
	var r Resources
	var all []error
	for _, d := range docs {
		switch {
		case d.Kind == agentKind && d.Name == agentName:
			agent, err := parseAgent(d, strict)
			all = append(all, wrap(agentKind+" "+agentName, err))
			r.Agent = agent
		case d.Name == "":
			all = append(all, fmt.Errorf("%s: metadata.name: required", d.Kind))
		default:
			r.Objects = append(r.Objects, d)
		}
	}
	return r, errors.Join(all...)
}

// FindAgent looks for the agent's document among others; nil means that there is none.
func FindAgent(text string) (*Agent, error) {
	docs, err := Documents(text)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		if d.Kind == agentKind && d.Name == agentName {
			agent, err := parseAgent(d, true)
			return agent, wrap(agentKind+" "+agentName, err)
		}
	}
	return nil, nil
}

func parseAgent(d Document, strict bool) (*Agent, error) {
	var c struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       struct {
			Enabled  *bool `json:"enabled"`
			Version  int   `json:"version"`
			Settings Agent `json:"settings"`
		} `json:"spec"`
	}
	if err := decode(d.Raw, strict, &c); err != nil {
		return nil, err
	}
	if c.APIVersion != agentAPIVersion {
		return nil, fmt.Errorf("apiVersion: %q is not %s", c.APIVersion, agentAPIVersion)
	}
	if c.Spec.Enabled != nil && !*c.Spec.Enabled {
		return nil, nil
	}
	at, err := url.Parse(c.Spec.Settings.CommanderURL)
	if err != nil || (at.Scheme != "https" && at.Scheme != "http") || at.Host == "" {
		return nil, errors.New("spec.settings.commanderUrl: an address like https://commander.example.com is needed")
	}
	if c.Spec.Settings.Token == "" {
		return nil, errors.New("spec.settings.token: required")
	}
	return &c.Spec.Settings, nil
}
