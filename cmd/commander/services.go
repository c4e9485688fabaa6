package main

import (
	"context"
	"path/filepath"

	"commander/web"
	"commander/web/agentapi"
	"commander/web/api"
	"commander/web/kubeproxy"
)

// addServices puts the parts that programs use beside the pages, and returns what must hear of changes.
func (p *program) addServices(ctx context.Context, deps *web.Deps) func(topics ...string) {
	connectors := filepath.Join(p.RunDir, "connectors")
	deps.Kubernetes = kubeproxy.New(kubeproxy.Options{
		Fleet: p.fleet, Dial: kubeproxy.Sockets(connectors), Log: p.log, Stop: ctx.Done(),
	})
	deps.API = api.New(p.fleet, p.log)
	agents := agentapi.New(agentapi.Options{Fleet: p.fleet, Dial: agentapi.Sockets(connectors), Log: p.log, Stop: ctx.Done()})
	deps.Agent = agents
	return agents.Heard
}
