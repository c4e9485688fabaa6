// Package guest describes Commander's agent as objects of the cluster that it works in, for clusters
// whose machines are somebody else's.
package guest

import (
	"crypto/sha256"
	_ "embed" // for agent.yaml
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// Names of what the agent has in a cluster; all else is in its namespace.
const (
	Namespace = "d8-commander-agent"
	Binding   = "d8:commander-agent"
)

// Agent is what an agent must know.
type Agent struct {
	// Image is that of the program commander-agent.
	Image string
	// CommanderURL is https://<commander>/agent_api/<cluster uuid>.
	CommanderURL, Token string
	// CABundle are PEM certificates to trust instead of the system's; empty means the system's.
	CABundle string
}

//go:embed agent.yaml
var text string

var objects = template.Must(template.New("agent.yaml").Funcs(template.FuncMap{"json": func(value any) (string, error) {
	out, err := json.Marshal(value) // JSON is YAML, whatever is in a string
	return string(out), err
}}).Parse(text))

// Objects are those that run the agent in a cluster, in the order in which they are made.
func (a Agent) Objects() ([]map[string]any, error) {
	var rendered strings.Builder
	err := objects.Execute(&rendered, struct {
		Agent
		Namespace, Binding, CASum string
	}{a, Namespace, Binding, fmt.Sprintf("%x", sha256.Sum256([]byte(a.CABundle)))})
	if err != nil {
		return nil, fmt.Errorf("describe the agent: %w", err)
	}
	var out []map[string]any
	for document := range strings.SplitSeq(rendered.String(), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return nil, fmt.Errorf("describe the agent: %w", err)
		}
		out = append(out, object)
	}
	return out, nil
}
