package emulator

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// short makes a name unique by an object's uid.
func short(uid types.UID) string { return v1alpha2.DiskSerial(uid)[:5] }

func launcherName(vm *v1alpha2.VirtualMachine) string {
	return fmt.Sprintf("d8v-vm-%s-%s", vm.Name, short(vm.UID))
}

// launcher is the pod that stands for the running machine. Its requests count against quotas.
func (m *machine) launcher(name, node string) (*corev1.Pod, error) {
	applied, err := json.Marshal(restartPart(&m.vm.Spec))
	if err != nil {
		return nil, err
	}
	cpu, memory := requests(&m.vm.Spec)
	amounts := corev1.ResourceList{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: m.vm.Namespace, Name: name, Labels: podLabels(m.vm),
			Annotations: map[string]string{noteApplied: string(applied)},
		},
		Spec: corev1.PodSpec{
			NodeName: node, AutomountServiceAccountToken: new(bool), TerminationGracePeriodSeconds: m.vm.Spec.TerminationGracePeriodSeconds,
			Containers: []corev1.Container{{
				Name: "compute", Image: "virt-launcher",
				Resources: corev1.ResourceRequirements{Requests: amounts, Limits: amounts},
			}},
		},
	}
	return pod, controllerutil.SetControllerReference(m.vm, pod, m.Scheme())
}

func podLabels(vm *v1alpha2.VirtualMachine) map[string]string {
	all := map[string]string{v1alpha2.LabelLauncher: vm.Name}
	for key, value := range vm.Labels {
		all[key] = value
	}
	return all
}

// requests are what a machine takes from its node.
func requests(spec *v1alpha2.VirtualMachineSpec) (cpu, memory resource.Quantity) {
	percent, err := strconv.Atoi(strings.TrimSuffix(spec.CPU.CoreFraction, "%"))
	if err != nil {
		percent = 100 // Auto begins with whole cores
	}
	return *resource.NewMilliQuantity(int64(spec.CPU.Cores*percent*10), resource.DecimalSI), spec.Memory.Size
}

// place finds a node: allowed by the class and the machine, open, not the one to avoid, with the
// fewest machines. Without one it says why.
func (m *machine) place(ctx context.Context, avoid string, want map[string]string) (node, reason string, err error) {
	class := new(v1alpha2.VirtualMachineClass)
	if err := m.Get(ctx, client.ObjectKey{Name: m.vm.Spec.VirtualMachineClassName}, class); err != nil {
		return "", "", err
	}
	nodes, err := m.nodesOf(ctx, class)
	if err != nil {
		return "", "", err
	}
	var pods corev1.PodList
	if err := m.List(ctx, &pods, client.HasLabels{v1alpha2.LabelLauncher}); err != nil {
		return "", "", err
	}
	load := map[string]int{}
	for _, pod := range pods.Items {
		load[pod.Spec.NodeName]++
	}
	for _, n := range nodes {
		fits := labels.SelectorFromSet(m.vm.Spec.NodeSelector).Matches(labels.Set(n.Labels)) && labels.SelectorFromSet(want).Matches(labels.Set(n.Labels))
		if !fits || n.Spec.Unschedulable || n.Name == avoid {
			continue
		}
		if node == "" || load[n.Name] < load[node] {
			node = n.Name
		}
	}
	if node == "" || m.faulty(ctx, m.vm, FaultUnschedulable) {
		return "", fmt.Sprintf("0/%d nodes are available", len(nodes)), nil
	}
	return node, "", nil
}

// labels carries the machine's labels to its pods, where Services select them. It leaves what the
// emulator set alone.
func (m *machine) labels(ctx context.Context) error {
	for i := range m.pods {
		pod := &m.pods[i]
		if labels.Equals(pod.Labels, podLabels(m.vm)) {
			continue
		}
		before := pod.DeepCopy()
		pod.Labels = podLabels(m.vm)
		if err := client.IgnoreNotFound(m.Patch(ctx, pod, client.MergeFrom(before))); err != nil {
			return err
		}
	}
	return nil
}
