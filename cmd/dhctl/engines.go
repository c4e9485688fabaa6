package main

import (
	"commander/agents/dhctl"
	"commander/agents/dhctl/kube"
	"commander/agents/lab"
	"commander/agents/lab/engine"
)

// engines are the kinds of cluster that this program knows, and how their API is opened. Tests
// put a world of their own in their place.
var engines = func(c Common) (map[string]dhctl.Engine, dhctl.Connect) {
	return map[string]dhctl.Engine{
		"Lab": &engine.Engine{Lab: lab.NewClient(c.LabSocket)},
	}, connect
}

func connect(kubeconfig []byte) (dhctl.API, error) { return kube.Open(kubeconfig) }
