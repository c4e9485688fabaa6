package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"
)

const (
	machinesNamespace = "d8-cloud-instance-manager"
	project           = "project"
	machinesUUID      = "11111111-2222-3333-4444-555555555555"
	machinesBound     = 20 * time.Minute
)

// machines measures a MachineDeployment of Cluster API that grows from none to many machines on the
// emulator of DVP, whose machines start at once, and shrinks to none: what the provider needs for it,
// and what is left. Cluster API's own controllers, the emulator and the API server, which the cluster
// and DVP share here, run beside it on the same cores.
func (b *bench) machines(ctx context.Context) ([]figure, error) {
	core := filepath.Join(b.Cache, "cluster-api", "core")
	if _, err := os.Stat(core); err != nil {
		return nil, fmt.Errorf("Cluster API is not there: `make cluster-api` builds it: %w", err)
	}
	return b.onDVP(ctx, func(w *world) ([]figure, error) { return b.growing(ctx, w, core) })
}

// onDVP does something with an API server and an emulator whose machines start at once; all of it
// ends after that.
func (b *bench) onDVP(ctx context.Context, do func(*world) ([]figure, error)) (figures []figure, err error) {
	p, err := b.newPlane(ctx)
	if err != nil {
		return nil, err
	}
	plane, err := p.up(ctx)
	if err != nil {
		return nil, err
	}
	defer plane.down(&err)
	w, err := b.newWorld(plane, p.token)
	if err != nil {
		return nil, err
	}
	w.emulator, err = b.spawn("dvp-emulator", nil, b.program("dvp-emulator"), "--kubeconfig", w.kubeconfig, "--lease-retention=1s",
		"--delays=start=0s,stop=0s,provision=0s,resize=0s,attach=0s,detach=0s,migrate=0s,delete-disk=0s")
	if err != nil {
		return nil, err
	}
	defer end(w.emulator, &err)
	if err := w.furnish(ctx, b.Cache); err != nil {
		return nil, err
	}
	return do(w)
}

// provider is what our programs are told of DVP.
func (w *world) provider() []string {
	return []string{"DVP_KUBERNETES_CONFIG_BASE64=" + w.encoded, "DVP_NAMESPACE=" + project, "CLUSTER_UUID=" + machinesUUID}
}

func (b *bench) growing(ctx context.Context, w *world, core string) (figures []figure, err error) {
	manager, err := b.spawn("capdvp", w.provider(),
		b.program("capdvp-controller-manager"), "--kubeconfig", w.kubeconfig, "--health-probe-bind-address=127.0.0.1:0", "--poll-interval=2s")
	if err != nil {
		return nil, err
	}
	defer end(manager, &err)
	port, err := freePort(3)
	if err != nil {
		return nil, err
	}
	capi, err := b.spawn("core", nil, core, "--kubeconfig", w.kubeconfig, "--webhook-cert-dir", w.certs, fmt.Sprintf("--webhook-port=%d", port),
		"--health-addr="+on(port+1), "--diagnostics-address="+on(port+2), "--insecure-diagnostics")
	if err != nil {
		return nil, err
	}
	defer end(capi, &err)
	if err := pause(ctx, b.Settle); err != nil {
		return nil, err
	}
	idle, err := memoryOf(manager.pid())
	if err != nil {
		return nil, err
	}
	up, down, cpu, peak, err := w.growAndShrink(ctx, manager, b.Machines)
	if err != nil {
		return nil, err
	}
	left, err := w.left(ctx)
	if err != nil {
		return nil, err
	}
	many := fmt.Sprintf("0 → %d", b.Machines)
	return []figure{
		{what: many + " machines, until all run", samples: samples{up.Seconds()}, unit: seconds},
		{what: fmt.Sprintf("%d → 0, until nothing is left of them", b.Machines), samples: samples{down.Seconds()}, unit: seconds},
		{what: "CPU time of `capdvp-controller-manager` for both, a machine", samples: samples{cpu.Seconds() / float64(b.Machines)}, unit: milliseconds},
		{what: "its memory before", samples: samples{idle.pss}, unit: mebibytes},
		{what: "its memory with all machines", samples: samples{peak.pss}, unit: mebibytes, beside: ratio(samples{peak.pss}, samples{idle.pss}, mebibytes, "before")},
		{what: "objects left in DVP", samples: samples{float64(left)}, unit: func(v float64) string { return fmt.Sprintf("%.0f", v) }, goal: "0"},
	}, nil
}

// world is what is in the cluster and in DVP.
type world struct {
	client.Client
	kubeconfig, encoded, certs string
	emulator                   *child
}

func (b *bench) newWorld(plane *running, token string) (*world, error) {
	authority, err := os.ReadFile(filepath.Join(plane.dir, "apiserver.crt"))
	if err != nil {
		return nil, fmt.Errorf("read authority: %w", err)
	}
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":"https://%s","certificate-authority-data":%q}}],"users":[{"name":"u","user":{"token":%q}}]}`,
		on(plane.port), base64.StdEncoding.EncodeToString(authority), token)
	w := &world{kubeconfig: filepath.Join(plane.dir, "kubeconfig"), encoded: base64.StdEncoding.EncodeToString([]byte(text)), certs: plane.dir}
	if err := os.WriteFile(w.kubeconfig, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write kubeconfig: %w", err)
	}
	// Whom the API server does not call may serve its webhooks with any certificate.
	for from, to := range map[string]string{"apiserver.crt": "tls.crt", "apiserver.key": "tls.key"} {
		content, err := os.ReadFile(filepath.Join(plane.dir, from))
		if err != nil {
			return nil, fmt.Errorf("read certificate: %w", err)
		}
		if err := os.WriteFile(filepath.Join(w.certs, to), content, 0o600); err != nil {
			return nil, fmt.Errorf("write certificate: %w", err)
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", w.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 200, 200
	log.SetLogger(logr.Discard()) // what the library says about itself is no figure
	if w.Client, err = client.New(config, client.Options{}); err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	return w, nil
}

const furniture = `
apiVersion: v1
kind: Namespace
metadata: {name: project}
---
apiVersion: v1
kind: Namespace
metadata: {name: d8-cloud-instance-manager}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: immediate}
provisioner: emulator.dvp
---
apiVersion: virtualization.deckhouse.io/v1alpha2
kind: VirtualMachineClass
metadata: {name: generic}
spec: {cpu: {type: Host}}
---
apiVersion: virtualization.deckhouse.io/v1alpha2
kind: ClusterVirtualImage
metadata: {name: debian}
spec: {dataSource: {type: HTTP, http: {url: "http://127.0.0.1/debian.qcow2"}}}
---
apiVersion: v1
kind: Secret
metadata: {name: script, namespace: d8-cloud-instance-manager}
stringData: {format: cloud-config, value: "#cloud-config"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: DeckhouseCluster
metadata: {name: dvp, namespace: d8-cloud-instance-manager}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: DeckhouseControlPlane
metadata: {name: dvp, namespace: d8-cloud-instance-manager}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: dvp, namespace: d8-cloud-instance-manager}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DeckhouseCluster, name: dvp}
  controlPlaneRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DeckhouseControlPlane, name: dvp}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: DeckhouseMachineTemplate
metadata: {name: worker, namespace: d8-cloud-instance-manager}
spec: {template: {spec: {vmClassName: generic, cpu: {cores: 1}, memory: 1Gi, rootDiskSize: 2Gi, rootDiskStorageClass: immediate, bootDiskImageRef: {kind: ClusterVirtualImage, name: debian}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: worker, namespace: d8-cloud-instance-manager, labels: {cluster.x-k8s.io/cluster-name: dvp}}
spec:
  clusterName: dvp
  replicas: 0
  selector: {matchLabels: {group: worker, cluster.x-k8s.io/cluster-name: dvp, cluster.x-k8s.io/deployment-name: worker}}
  rollout: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}}
  template:
    metadata: {labels: {group: worker, cluster.x-k8s.io/cluster-name: dvp, cluster.x-k8s.io/deployment-name: worker}}
    spec:
      clusterName: dvp
      bootstrap: {dataSecretName: script}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DeckhouseMachineTemplate, name: worker}
`

// furnish makes all that machines need, as soon as the emulator takes it.
func (w *world) furnish(ctx context.Context, cache string) error {
	files, err := filepath.Glob(filepath.Join(cache, "cluster-api", "crds", "*.yaml"))
	if err != nil {
		return fmt.Errorf("find kinds: %w", err)
	}
	ours, err := filepath.Glob("../agents/dvp/api/infrastructure/crds/*.yaml")
	if err != nil {
		return fmt.Errorf("find kinds: %w", err)
	}
	var texts [][]byte
	for _, file := range append(files, ours...) {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read kind: %w", err)
		}
		texts = append(texts, text)
	}
	for _, text := range append(texts, bytes.Split([]byte(furniture), []byte("\n---\n"))...) {
		o := new(unstructured.Unstructured)
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			return fmt.Errorf("read object: %w", err)
		}
		if err := until(ctx, pollEvery, time.Minute, func(ctx context.Context) error {
			if err := w.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("make %s %s: %w", o.GetKind(), o.GetName(), err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// growAndShrink takes the MachineDeployment to so many machines and back.
func (w *world) growAndShrink(ctx context.Context, manager *child, many int) (up, down, cpu time.Duration, peak memory, err error) {
	before, err := cpuOf(manager.pid())
	if err != nil {
		return 0, 0, 0, peak, err
	}
	start := time.Now()
	if err := w.scale(ctx, many); err != nil {
		return 0, 0, 0, peak, err
	}
	if err := until(ctx, time.Second, machinesBound, func(ctx context.Context) error {
		all, err := w.list(ctx, "infrastructure.cluster.x-k8s.io/v1alpha1", "DeckhouseMachineList", machinesNamespace)
		ready := 0
		for _, o := range all {
			if is, _, _ := unstructured.NestedBool(o.Object, "status", "ready"); is {
				ready++
			}
		}
		if err == nil && ready < many {
			err = fmt.Errorf("%d of %d machines run", ready, many)
		}
		return err
	}); err != nil {
		return 0, 0, 0, peak, errors.Join(err, manager.alive())
	}
	up = time.Since(start)
	if peak, err = memoryOf(manager.pid()); err != nil {
		return 0, 0, 0, peak, err
	}
	start = time.Now()
	if err := w.scale(ctx, 0); err != nil {
		return 0, 0, 0, peak, err
	}
	if err := until(ctx, time.Second, machinesBound, func(ctx context.Context) error {
		all, err := w.list(ctx, "cluster.x-k8s.io/v1beta2", "MachineList", machinesNamespace)
		if err == nil && len(all) > 0 {
			err = fmt.Errorf("%d machines are left", len(all))
		}
		return err
	}); err != nil {
		return 0, 0, 0, peak, errors.Join(err, manager.alive())
	}
	down = time.Since(start)
	after, err := cpuOf(manager.pid())
	return up, down, after - before, peak, err
}

func (w *world) scale(ctx context.Context, replicas int) error {
	d := new(unstructured.Unstructured)
	d.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	d.SetKind("MachineDeployment")
	d.SetNamespace(machinesNamespace)
	d.SetName("worker")
	return w.Patch(ctx, d, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)))
}

func (w *world) list(ctx context.Context, version, kind, namespace string) ([]unstructured.Unstructured, error) {
	list := new(unstructured.UnstructuredList)
	list.SetAPIVersion(version)
	list.SetKind(kind)
	if err := w.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list %s: %w", kind, err)
	}
	return list.Items, nil
}

// left counts what the machines left behind in DVP.
func (w *world) left(ctx context.Context) (n int, err error) {
	for kind, version := range map[string]string{
		"VirtualMachineList": "virtualization.deckhouse.io/v1alpha2", "VirtualDiskList": "virtualization.deckhouse.io/v1alpha2",
		"VirtualMachineIPAddressList": "virtualization.deckhouse.io/v1alpha2", "VirtualMachineOperationList": "virtualization.deckhouse.io/v1alpha2", "SecretList": "v1",
	} {
		all, err := w.list(ctx, version, kind, project)
		if err != nil {
			return 0, err
		}
		n += len(all)
	}
	return n, nil
}

// alive says how a child ended, if it has.
func (c *child) alive() error {
	select {
	case <-c.exited:
		return c.gone()
	default:
		return c.cmd.Process.Signal(syscall.Signal(0))
	}
}
