package clustermanager

import (
	"encoding/json"
	"fmt"

	"commander/store"
)

// operation is what the installer is asked for, from the task and the wanted configuration.
func (a *attempt) operation() (Operation, error) {
	rendered := a.work.Rendering.Real
	op := Operation{
		Kind:           a.work.Task.Kind,
		ClusterID:      a.work.Cluster.ID.String(),
		ClusterConfig:  rendered.ClusterConfiguration,
		ProviderConfig: rendered.ProviderConfiguration,
		InitConfig:     rendered.InitConfiguration,
		State:          a.work.State,
		ApprovedChange: a.work.Task.ChangeID,
		CommanderUUID:  a.UUID,
	}
	switch op.Kind {
	case store.TaskBootstrap, store.TaskDestroy, store.TaskAbort:
		op.Connection = rendered.SSHConfiguration
	case store.TaskAttach:
		op.Connection = string(a.work.Kubeconfig)
	}
	if op.Kind == store.TaskBootstrap || op.Kind == store.TaskAttach {
		agent, err := a.agentModule()
		if err != nil {
			return op, err
		}
		op.Resources = agent
	}
	return op, nil
}

// agentModule enables commander-agent in the new cluster and tells it where to dial to. It is JSON, which
// is YAML as well.
func (a *attempt) agentModule() (string, error) {
	settings := map[string]any{
		"commanderUrl": fmt.Sprintf("%s/agent_api/%s", a.PublicURL, a.work.Cluster.ID),
		"token":        a.work.AgentToken,
	}
	if a.CABundle != "" {
		settings["caBundle"] = a.CABundle
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "deckhouse.io/v1alpha1",
		"kind":       "ModuleConfig",
		"metadata":   map[string]any{"name": "commander-agent"},
		"spec":       map[string]any{"enabled": true, "version": 1, "settings": settings},
	})
	if err != nil {
		return "", fmt.Errorf("describe the agent: %w", err)
	}
	return string(body), nil
}
