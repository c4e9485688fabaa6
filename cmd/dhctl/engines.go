package main

import (
	"commander/agents/dhctl"
	"commander/agents/dhctl/kube"
	"commander/agents/lab"
	"commander/agents/lab/engine"
)

// engines are the kinds of cluster that this program knows.
func engines(c common) map[string]dhctl.Engine {
	return map[string]dhctl.Engine{
		"Lab": &engine.Engine{Lab: lab.NewClient(c.LabSocket)},
	}
}

func connect(kubeconfig []byte) (dhctl.API, error) { return kube.Open(kubeconfig) }
