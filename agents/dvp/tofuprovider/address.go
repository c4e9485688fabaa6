package tofuprovider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/api/meta"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// addressModel is an address that stays the same while machines that use it come and go.
type addressModel struct {
	Name    types.String      `tfsdk:"name"`
	Labels  map[string]string `tfsdk:"labels"`
	Static  types.String      `tfsdk:"static"`
	Address types.String      `tfsdk:"address"`
}

func newAddress() resource.Resource {
	return &thing[*v1alpha2.VirtualMachineIPAddress, addressModel, *addressModel]{kind: "VirtualMachineIPAddress", name: "ip_address", schema: schema.Schema{
		Description: "An address for a machine.",
		Attributes: map[string]schema.Attribute{
			"name": fixed("Name in the project."), "labels": labels(),
			"static":  schema.StringAttribute{Optional: true, Description: "The address that is wanted; without one it is any.", PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
			"address": told("The address."),
		},
	}}
}

func (m *addressModel) object() *v1alpha2.VirtualMachineIPAddress {
	return &v1alpha2.VirtualMachineIPAddress{ObjectMeta: named(m.Name)}
}

func (m *addressModel) want(_ context.Context, address *v1alpha2.VirtualMachineIPAddress) {
	label(address, m.Labels)
	if static := m.Static.ValueString(); static != "" {
		address.Spec = v1alpha2.IPAddressSpec{Type: v1alpha2.AddressStatic, StaticIP: static}
	} else {
		address.Spec = v1alpha2.IPAddressSpec{Type: v1alpha2.AddressAuto}
	}
}

func (m *addressModel) has(address *v1alpha2.VirtualMachineIPAddress) {
	m.Address = types.StringValue(address.Status.Address)
}

// ready waits until the address is bound; one that is not in DVP's range, or another's, never is.
func (m *addressModel) ready(ctx context.Context, c *cloud.Cloud, address *v1alpha2.VirtualMachineIPAddress) error {
	return cloud.Await(ctx, c, address, func(now *v1alpha2.VirtualMachineIPAddress) (bool, error) {
		if now.Status.Phase == v1alpha2.AddressPhaseBound || now.Status.Phase == v1alpha2.AddressPhaseAttached {
			return now.Status.Address != "", nil
		}
		bound := meta.FindStatusCondition(now.Status.Conditions, v1alpha2.AddressBound)
		if bound != nil && bound.ObservedGeneration == now.Generation && (bound.Reason == v1alpha2.AddressOutOfRange || bound.Reason == v1alpha2.AddressLeaseExists) {
			return false, &cloud.Error{Kind: cloud.Failed, Doing: fmt.Sprintf("bind VirtualMachineIPAddress %q", now.Name), Cause: fmt.Errorf("%s: %s", bound.Reason, bound.Message)}
		}
		return false, nil
	})
}
