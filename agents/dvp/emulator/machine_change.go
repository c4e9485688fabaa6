package emulator

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// restartPart is what a machine takes over only when it starts.
func restartPart(spec *v1alpha2.VirtualMachineSpec) map[string]any {
	return map[string]any{
		"virtualMachineClassName": spec.VirtualMachineClassName, "virtualMachineIPAddressName": spec.VirtualMachineIPAddressName,
		"terminationGracePeriodSeconds": spec.TerminationGracePeriodSeconds, "enableParavirtualization": spec.EnableParavirtualization,
		"osType": spec.OSType, "bootloader": spec.Bootloader, "provisioning": spec.Provisioning,
		"cpu": spec.CPU, "memory": spec.Memory, "gpus": spec.GPUs,
	}
}

// compare tells which changes of the spec wait for a restart, and restarts if that is allowed.
func (m *machine) compare(context.Context) error {
	status, pod := &m.vm.Status, m.active()
	status.RestartAwaitingChanges = nil
	if pod != nil && pod.DeletionTimestamp.IsZero() {
		changes, err := waiting(pod.Annotations[noteApplied], &m.vm.Spec)
		if err != nil {
			return err
		}
		status.RestartAwaitingChanges = changes
	}
	if len(status.RestartAwaitingChanges) == 0 {
		m.set(v1alpha2.VMConfigurationApplied, true, v1alpha2.VMConfigurationApplied, "")
		m.set(v1alpha2.VMAwaitingRestart, false, v1alpha2.VMNoRestartRequired, "")
		if pod != nil {
			status.Resources = &v1alpha2.MachineResources{
				CPU:    v1alpha2.ResourcesCPU{Cores: m.vm.Spec.CPU.Cores, CoreFraction: m.vm.Spec.CPU.CoreFraction},
				Memory: v1alpha2.ResourcesMemory{Size: m.vm.Spec.Memory.Size.String()},
			}
		}
		return nil
	}
	m.set(v1alpha2.VMConfigurationApplied, false, v1alpha2.VMConfigurationNotApplied, "")
	m.set(v1alpha2.VMAwaitingRestart, true, v1alpha2.VMChangesPendingRestart, "")
	if m.vm.Spec.Disruptions.RestartApprovalMode == v1alpha2.RestartAutomatic {
		m.after = append(m.after, func(ctx context.Context) error { return m.end(ctx, pod, intentRestart) })
	}
	return nil
}

func waiting(applied string, spec *v1alpha2.VirtualMachineSpec) ([]v1alpha2.RestartChange, error) {
	text, err := json.Marshal(restartPart(spec))
	if err != nil {
		return nil, err
	}
	var has, wants map[string]any
	if err := json.Unmarshal([]byte(applied), &has); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &wants); err != nil {
		return nil, err
	}
	var changes []v1alpha2.RestartChange
	for _, path := range slices.Sorted(maps.Keys(wants)) {
		if reflect.DeepEqual(has[path], wants[path]) {
			continue
		}
		current, err := json.Marshal(has[path])
		if err != nil {
			return nil, err
		}
		desired, err := json.Marshal(wants[path])
		if err != nil {
			return nil, err
		}
		changes = append(changes, v1alpha2.RestartChange{
			Operation: "replace", Path: path,
			CurrentValue: &apiextensionsv1.JSON{Raw: current}, DesiredValue: &apiextensionsv1.JSON{Raw: desired},
		})
	}
	return changes, nil
}
