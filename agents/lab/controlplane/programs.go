package controlplane

import (
	"fmt"
	"strconv"

	"commander/agents/lab/build"
	"commander/agents/lab/process"
)

// smallHeap makes Go collect garbage earlier than it would by itself: many control planes share
// one machine and are idle most of the time, so memory is worth more than the little CPU.
var smallHeap = []string{"GOGC=50"}

func spec(p build.Program, args ...string) process.Spec {
	return process.Spec{Path: p.Path, Argv0: p.Argv0, Args: args, Env: smallHeap}
}

func (c *Cluster) etcd(p build.Program) process.Plan {
	client, peer := "unix://"+c.file("etcd.sock"), "unix://"+c.file("peer.sock")
	return func(bool) (process.Spec, error) {
		return spec(p,
			"--name=lab", "--data-dir="+c.file("etcd"), "--log-level=warn",
			"--listen-client-urls="+client, "--advertise-client-urls="+client,
			"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=lab="+peer,
			// For labs only: a crash of the machine, not of a process, may lose the last writes.
			"--unsafe-no-fsync",
		), nil
	}
}

func (c *Cluster) apiServer(p build.Program) process.Plan {
	return func(starting bool) (process.Spec, error) {
		if starting {
			if err := c.choosePort(); err != nil {
				return process.Spec{}, err
			}
		}
		s := c.Settings()
		issuer := "https://kubernetes.default.svc." + s.Domain
		return spec(p,
			"--etcd-servers=unix://"+c.file("etcd.sock"),
			"--bind-address="+host, "--secure-port="+strconv.Itoa(s.Port), "--advertise-address="+host,
			"--endpoint-reconciler-type=none", // a loopback address is no endpoint that pods could use
			"--tls-cert-file="+c.pki("apiserver.crt"), "--tls-private-key-file="+c.pki("apiserver.key"),
			"--client-ca-file="+c.pki("ca.crt"), "--anonymous-auth=false",
			"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
			"--service-account-key-file="+c.pki("sa.pub"), "--service-account-signing-key-file="+c.pki("sa.key"),
			"--service-account-issuer="+issuer, "--service-cluster-ip-range="+s.ServiceSubnet,
			"--egress-selector-config-file="+c.file("egress.yaml"),
			"--kubelet-client-certificate="+c.pki("kubelet-client.crt"), "--kubelet-client-key="+c.pki("kubelet-client.key"),
			"--kubelet-certificate-authority="+c.pki("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
			"--profiling=false",
		), nil
	}
}

// choosePort keeps the port of the API server, or chooses another if somebody took it meanwhile.
func (c *Cluster) choosePort() error {
	before := c.Settings()
	port, err := c.ports.choose(before.Name, before.Port, portFree)
	if err != nil || port == before.Port {
		return err
	}
	c.mu.Lock()
	c.settings.Port = port
	after := c.settings
	c.mu.Unlock()
	c.log.Info("port of the API server chosen", "port", port, "before", before.Port)
	c.onChange(after)
	c.moved()
	return nil
}

func (c *Cluster) controllerManager(p build.Program) process.Plan {
	return func(bool) (process.Spec, error) {
		s := c.Settings()
		return c.client(p, "controller-manager",
			"--secure-port=0", "--leader-elect=false", "--profiling=false", "--cluster-name="+s.Name,
			// Each controller fetches a token of its own before it starts, a hundred requests in all.
			"--kube-api-qps=500", "--kube-api-burst=1000",
			"--use-service-account-credentials=true", "--service-account-private-key-file="+c.pki("sa.key"),
			"--root-ca-file="+c.pki("ca.crt"),
			"--cluster-signing-cert-file="+c.pki("ca.crt"), "--cluster-signing-key-file="+c.pki("ca.key"),
			"--allocate-node-cidrs=true", "--cluster-cidr="+s.PodSubnet, "--service-cluster-ip-range="+s.ServiceSubnet,
		)
	}
}

func (c *Cluster) scheduler(p build.Program) process.Plan {
	return func(bool) (process.Spec, error) {
		return c.client(p, "scheduler", "--secure-port=0", "--leader-elect=false", "--profiling=false")
	}
}

// kwok serves nothing (it would run commands on the host): the lab answers for kubelets itself.
func (c *Cluster) kwok(p build.Program) process.Plan {
	return func(bool) (process.Spec, error) {
		return c.client(p, "kwok",
			"--config="+c.file("stages.yaml"), "--manage-all-nodes=true", "--cidr="+c.Settings().PodSubnet,
			"--node-lease-duration-seconds=40", "--v=WARN",
		)
	}
}

// client is a component that talks to the API server by a kubeconfig of its own.
func (c *Cluster) client(p build.Program, holder string, args ...string) (process.Spec, error) {
	content, err := c.kubeconfig(holder)
	if err != nil {
		return process.Spec{}, err
	}
	file := c.file(holder + ".kubeconfig")
	if err := WriteFile(file, content); err != nil {
		return process.Spec{}, err
	}
	s := spec(p, append(args, "--kubeconfig="+file)...)
	s.Inputs = []string{file}
	if holder == "kwok" {
		s.Inputs = append(s.Inputs, c.file("stages.yaml"))
	}
	return s, nil
}

// writeConfigs writes the files that components read besides certificates.
func (c *Cluster) writeConfigs() error {
	egress := fmt.Sprintf(egressConfig, c.KubeletSocket())
	if err := WriteFile(c.file("egress.yaml"), []byte(egress)); err != nil {
		return err
	}
	return WriteFile(c.file("stages.yaml"), stages)
}

// KubeletSocket is where the API server asks for connections to kubelets, by HTTP CONNECT.
func (c *Cluster) KubeletSocket() string { return c.file("kubelet.sock") }

// egressConfig sends what the API server wants from nodes, pods and services to a unix socket.
const egressConfig = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport: {uds: {udsName: %q}}
- name: controlplane
  connection: {proxyProtocol: Direct}
`
