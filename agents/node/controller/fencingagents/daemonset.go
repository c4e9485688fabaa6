package fencingagents

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
)

// prefix begins the name of a group's DaemonSet.
const prefix = "fencing-agent-"

// app is the value of the label "app" of all of them, and their service account.
const app = "fencing-agent"

// Ports of an agent on its node: that of its group's gossip, TCP and UDP, and that of its health.
const (
	gossipPort = 8500
	healthPort = 8081
)

const (
	defaultTimeout = "60s" // that of the schema
	device         = "/dev/watchdog"
	// socketDir is where programs of the node find the agent.
	socketDir = "/var/run/fencing-agent"
)

// Image is where agents come from.
type Image struct {
	Name        string   // with its tag or digest; empty means that no group has agents
	PullSecrets []string // names of Secrets
}

// daemonSet runs an agent on each node of a group, or is nil if the group is not fenced.
func daemonSet(group *v1.NodeGroup, image Image) (*appsv1.DaemonSet, error) {
	fencing := group.Spec.Fencing
	if fencing == nil || image.Name == "" || !group.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	text := defaultTimeout
	if fencing.Watchdog != nil && fencing.Watchdog.Timeout != "" {
		text = fencing.Watchdog.Timeout
	}
	timeout, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("read timeout of group %s: %w", group.Name, err)
	}
	// It goes with its group, even if nobody looks just then. Nobody waits for that, so that no right
	// on the group's finalizers is needed.
	owner := metav1.NewControllerRef(group, v1.GroupVersion.WithKind("NodeGroup"))
	owner.BlockOwnerDeletion = nil
	labels := map[string]string{"app": app, "module": "node-manager", api.LabelGroup: group.Name}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: api.Namespace, Name: prefix + group.Name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Spec: appsv1.DaemonSetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": app, api.LabelGroup: group.Name}},
			UpdateStrategy: oneByOne(),
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec(group.Name, fencing.Mode, timeout, image)},
		},
	}, nil
}

// oneByOne keeps the group's quorum while agents are replaced.
func oneByOne() appsv1.DaemonSetUpdateStrategy {
	one := intstr.FromInt32(1)
	return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one}}
}

func podSpec(group string, mode v1.FencingMode, timeout time.Duration, image Image) corev1.PodSpec {
	grace := int64(10)
	spec := corev1.PodSpec{
		ServiceAccountName: app, PriorityClassName: "system-cluster-critical", TerminationGracePeriodSeconds: &grace,
		// It gossips at the node's own address, and must not depend on the network of pods that it judges.
		HostNetwork: true, DNSPolicy: corev1.DNSDefault,
		NodeSelector: map[string]string{api.LabelGroup: group},
		Tolerations:  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Volumes:      []corev1.Volume{fromHost("socket", socketDir, corev1.HostPathDirectoryOrCreate)},
	}
	for _, name := range image.PullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	no, yes := false, true
	container := corev1.Container{
		Name: app, Image: image.Name,
		Env: []corev1.EnvVar{
			{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
			{Name: "NODE_GROUP", Value: group},
			{Name: "FENCING_MODE", Value: string(mode)},
			{Name: "WATCHDOG_DEVICE", Value: device},
			{Name: "WATCHDOG_TIMEOUT", Value: strconv.Itoa(int(timeout / time.Second))},
			{Name: "GRPC_ADDRESS", Value: socketDir + "/fencing-agent.sock"},
			{Name: "HEALTH_PROBE_BIND_ADDRESS", Value: fmt.Sprintf("127.0.0.1:%d", healthPort)},
			{Name: "MEMBERLIST_PORT", Value: strconv.Itoa(gossipPort)},
		},
		Ports: []corev1.ContainerPort{
			{Name: "gossip-tcp", ContainerPort: gossipPort, HostPort: gossipPort, Protocol: corev1.ProtocolTCP},
			{Name: "gossip-udp", ContainerPort: gossipPort, HostPort: gossipPort, Protocol: corev1.ProtocolUDP},
		},
		LivenessProbe: &corev1.Probe{
			ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "127.0.0.1", Path: "/healthz", Port: intstr.FromInt32(healthPort)}},
			InitialDelaySeconds: 15, PeriodSeconds: 20, FailureThreshold: 3,
		},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("50Mi"),
		}},
		SecurityContext: &corev1.SecurityContext{ReadOnlyRootFilesystem: &yes, AllowPrivilegeEscalation: &no},
		VolumeMounts:    []corev1.VolumeMount{{Name: "socket", MountPath: socketDir}},
	}
	if mode == v1.FencingWatchdog {
		// A device of the machine is closed to all but privileged containers.
		container.SecurityContext = &corev1.SecurityContext{
			ReadOnlyRootFilesystem: &yes, Privileged: &yes,
			AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined},
		}
		spec.Volumes = append(spec.Volumes, fromHost("watchdog", device, corev1.HostPathCharDev))
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "watchdog", MountPath: device})
	}
	spec.Containers = []corev1.Container{container}
	return spec
}

func fromHost(name, path string, kind corev1.HostPathType) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}}
}
