package tofuprovider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"commander/agents/dvp/cloud"
)

// Address is the source of the provider in required_providers. Nobody serves it: a provider is found
// in a folder, a filesystem mirror.
const Address = "commander.local/deckhouse/dvp"

// New is the provider in a version.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &dvp{version: version} }
}

type dvp struct{ version string }

type settings struct {
	Kubeconfig  types.String `tfsdk:"kubeconfig"`
	Namespace   types.String `tfsdk:"namespace"`
	ClusterUUID types.String `tfsdk:"cluster_uuid"`
}

func (p *dvp) Metadata(_ context.Context, _ provider.MetadataRequest, answer *provider.MetadataResponse) {
	answer.TypeName, answer.Version = "dvp", p.version
}

func (p *dvp) Schema(_ context.Context, _ provider.SchemaRequest, answer *provider.SchemaResponse) {
	answer.Schema = schema.Schema{
		Description: "Machines, disks and addresses in one project of Deckhouse Virtualization Platform.",
		Attributes: map[string]schema.Attribute{
			"kubeconfig":   schema.StringAttribute{Required: true, Sensitive: true, Description: "Kubeconfig for DVP, as text or in Base64, with all that it refers to inside."},
			"namespace":    schema.StringAttribute{Required: true, Description: "The project's namespace in DVP."},
			"cluster_uuid": schema.StringAttribute{Required: true, Description: "Marks what belongs to this cluster."},
		},
	}
}

// Configure reaches DVP. It asks nothing yet: a plan without anything to read works without DVP.
func (p *dvp) Configure(ctx context.Context, req provider.ConfigureRequest, answer *provider.ConfigureResponse) {
	var s settings
	answer.Diagnostics.Append(req.Config.Get(ctx, &s)...)
	if answer.Diagnostics.HasError() {
		return
	}
	for name, value := range map[string]types.String{"kubeconfig": s.Kubeconfig, "namespace": s.Namespace, "cluster_uuid": s.ClusterUUID} {
		if value.IsUnknown() || value.ValueString() == "" {
			answer.Diagnostics.AddAttributeError(path.Root(name), "DVP cannot be reached", "The provider needs "+name+" before it can plan anything.")
		}
	}
	if answer.Diagnostics.HasError() {
		return
	}
	c, err := cloud.Credentials{Kubeconfig: s.Kubeconfig.ValueString(), Namespace: s.Namespace.ValueString(), ClusterUUID: s.ClusterUUID.ValueString()}.Open()
	if err != nil {
		answer.Diagnostics.AddAttributeError(path.Root("kubeconfig"), "DVP cannot be reached", err.Error())
		return
	}
	answer.ResourceData, answer.DataSourceData = c, c
}

func (p *dvp) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newMachine, newDisk, newAddress, newCloudInit, newPolicy}
}

func (p *dvp) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newClass, newImage}
}
