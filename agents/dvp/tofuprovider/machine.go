package tofuprovider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"
	corev1 "k8s.io/api/core/v1"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// machineModel is a machine that is to run. What it is made of has to be there, or to come.
type machineModel struct {
	Name              types.String      `tfsdk:"name"`
	Hostname          types.String      `tfsdk:"hostname"`
	Labels            map[string]string `tfsdk:"labels"`
	Annotations       map[string]string `tfsdk:"annotations"`
	Class             types.String      `tfsdk:"class"`
	Cores             types.Int64       `tfsdk:"cores"`
	CoreFraction      types.String      `tfsdk:"core_fraction"`
	Memory            types.String      `tfsdk:"memory"`
	Bootloader        types.String      `tfsdk:"bootloader"`
	RunPolicy         types.String      `tfsdk:"run_policy"`
	LiveMigration     types.String      `tfsdk:"live_migration_policy"`
	GracePeriod       types.Int64       `tfsdk:"termination_grace_period_seconds"`
	Disks             []string          `tfsdk:"disks"`
	IPAddressName     types.String      `tfsdk:"ip_address_name"`
	CloudInit         types.String      `tfsdk:"cloud_init"`
	NodeSelector      map[string]string `tfsdk:"node_selector"`
	Tolerations       []tolerationModel `tfsdk:"tolerations"`
	PriorityClassName types.String      `tfsdk:"priority_class_name"`
	UID               types.String      `tfsdk:"uid"`
	IPAddress         types.String      `tfsdk:"ip_address"`
}

type tolerationModel struct {
	Key      types.String `tfsdk:"key"`
	Operator types.String `tfsdk:"operator"`
	Value    types.String `tfsdk:"value"`
	Effect   types.String `tfsdk:"effect"`
	Seconds  types.Int64  `tfsdk:"toleration_seconds"`
}

func newMachine() resource.Resource {
	text := func(about string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, Description: about}
	}
	return &thing[*v1alpha2.VirtualMachine, machineModel, *machineModel]{kind: "VirtualMachine", name: "virtual_machine", schema: schema.Schema{
		Description: "A machine that runs. DVP restarts it by itself when a change needs that.",
		Attributes: map[string]schema.Attribute{
			"name":        fixed("Name in the project."),
			"hostname":    fixed("Name of the Node that the machine is."),
			"labels":      labels(),
			"annotations": schema.MapAttribute{Optional: true, ElementType: types.StringType, Description: "Annotations. What others change of them is left alone."},
			"class":       schema.StringAttribute{Required: true, Description: "VirtualMachineClass."},
			"cores":       schema.Int64Attribute{Required: true, Description: "Number of processors."},
			"core_fraction": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString("100%"), Description: "Guaranteed share of each processor.",
			},
			"memory":                quantity("Memory, such as 8Gi."),
			"bootloader":            choice("Firmware.", "EFI", "BIOS", "EFIWithSecureBoot"),
			"run_policy":            choice("When it runs.", "AlwaysOnUnlessStoppedManually", "AlwaysOn", "Manual", "AlwaysOff"),
			"live_migration_policy": choice("Whether it may be slowed down to be moved.", "PreferForced", "AlwaysForced", "PreferSafe", "AlwaysSafe"),
			"termination_grace_period_seconds": schema.Int64Attribute{
				Optional: true, Computed: true, Default: int64default.StaticInt64(90), Description: "How long it may take to shut down.",
			},
			"disks":           schema.ListAttribute{Required: true, ElementType: types.StringType, Description: "Names of its disks, the one it boots from first."},
			"ip_address_name": text("Name of its address; without one it gets any, and another when it is made anew."),
			"cloud_init":      text("Name of the Secret that the guest configures itself by at its first start."),
			"node_selector":   schema.MapAttribute{Optional: true, ElementType: types.StringType, Description: "Labels of DVP's nodes where it may run."},
			"tolerations": schema.ListNestedAttribute{Optional: true, Description: "Taints of DVP's nodes that it bears.", NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"key": text("Key."), "operator": text("Exists or Equal."), "value": text("Value."), "effect": text("Effect."),
				"toleration_seconds": schema.Int64Attribute{Optional: true, Description: "How long it stays."},
			}}},
			"priority_class_name": text("PriorityClass in DVP."),
			"uid":                 told("Uid of the object in DVP."),
			"ip_address":          told("Its address."),
		},
	}}
}

func (m *machineModel) object() *v1alpha2.VirtualMachine {
	return &v1alpha2.VirtualMachine{ObjectMeta: named(m.Name)}
}

func (m *machineModel) want(_ context.Context, vm *v1alpha2.VirtualMachine) {
	label(vm, m.Labels, map[string]string{cloud.LabelHostname: m.Hostname.ValueString()})
	if len(m.Annotations) > 0 {
		notes := maps.Clone(vm.Annotations)
		if notes == nil {
			notes = map[string]string{}
		}
		maps.Copy(notes, m.Annotations)
		vm.Annotations = notes
	}
	s := &vm.Spec
	s.VirtualMachineClassName = m.Class.ValueString()
	s.CPU = v1alpha2.CPUSpec{Cores: int(m.Cores.ValueInt64()), CoreFraction: m.CoreFraction.ValueString()}
	if wanted := size(m.Memory); wanted.Cmp(s.Memory.Size) != 0 {
		s.Memory.Size = wanted
	}
	s.OSType, s.EnableParavirtualization = v1alpha2.Generic, new(true)
	s.Bootloader, s.RunPolicy = v1alpha2.Bootloader(m.Bootloader.ValueString()), v1alpha2.RunPolicy(m.RunPolicy.ValueString())
	s.LiveMigrationPolicy = v1alpha2.LiveMigrationPolicy(m.LiveMigration.ValueString())
	s.Disruptions.RestartApprovalMode = v1alpha2.RestartAutomatic
	s.TerminationGracePeriodSeconds = new(m.GracePeriod.ValueInt64())
	s.VirtualMachineIPAddressName, s.PriorityClassName = m.IPAddressName.ValueString(), m.PriorityClassName.ValueString()
	s.NodeSelector, s.Tolerations, s.BlockDeviceRefs = m.NodeSelector, nil, nil
	for _, t := range m.Tolerations {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{
			Key: t.Key.ValueString(), Operator: corev1.TolerationOperator(t.Operator.ValueString()), Value: t.Value.ValueString(),
			Effect: corev1.TaintEffect(t.Effect.ValueString()), TolerationSeconds: t.Seconds.ValueInt64Pointer(),
		})
	}
	for _, disk := range m.Disks {
		s.BlockDeviceRefs = append(s.BlockDeviceRefs, v1alpha2.BlockDeviceRef{Kind: v1alpha2.KindVirtualDisk, Name: disk})
	}
	if secret := m.CloudInit.ValueString(); secret != "" {
		s.Provisioning = &v1alpha2.Provisioning{Type: v1alpha2.UserDataRef, UserDataRef: &v1alpha2.ProvisioningRef{Kind: v1alpha2.KindSecret, Name: secret}}
	}
}

func (m *machineModel) has(vm *v1alpha2.VirtualMachine) {
	s := vm.Spec
	m.Class, m.Cores, m.CoreFraction = types.StringValue(s.VirtualMachineClassName), types.Int64Value(int64(s.CPU.Cores)), types.StringValue(s.CPU.CoreFraction)
	m.Memory = sameSize(m.Memory, s.Memory.Size)
	m.Bootloader, m.RunPolicy = types.StringValue(string(s.Bootloader)), types.StringValue(string(s.RunPolicy))
	m.LiveMigration = types.StringValue(string(s.LiveMigrationPolicy))
	if s.TerminationGracePeriodSeconds != nil {
		m.GracePeriod = types.Int64Value(*s.TerminationGracePeriodSeconds)
	}
	m.Disks = nil
	for _, device := range s.BlockDeviceRefs {
		m.Disks = append(m.Disks, device.Name)
	}
	m.UID, m.IPAddress = types.StringValue(string(vm.UID)), types.StringValue(vm.Status.IPAddress)
}

// ready waits until the machine runs and has an address. One that is not to run by its policy is
// ready when DVP says that it is stopped.
func (m *machineModel) ready(ctx context.Context, c *cloud.Cloud, vm *v1alpha2.VirtualMachine) error {
	return cloud.Await(ctx, c, vm, func(now *v1alpha2.VirtualMachine) (bool, error) {
		switch now.Spec.RunPolicy {
		case v1alpha2.Manual, v1alpha2.AlwaysOff:
			return now.Status.Phase == v1alpha2.MachineStopped, nil
		}
		return now.Status.Phase == v1alpha2.MachineRunning && now.Status.IPAddress != "", nil
	})
}
