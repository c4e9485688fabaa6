package tofuprovider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"commander/agents/dvp/api/configuration"
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
	Configuration types.String `tfsdk:"configuration"`
	ClusterUUID   types.String `tfsdk:"cluster_uuid"`
}

func (p *dvp) Metadata(_ context.Context, _ provider.MetadataRequest, answer *provider.MetadataResponse) {
	answer.TypeName, answer.Version = "dvp", p.version
}

func (p *dvp) Schema(_ context.Context, _ provider.SchemaRequest, answer *provider.SchemaResponse) {
	answer.Schema = schema.Schema{
		Description: "Machines, disks and addresses in one project of Deckhouse Virtualization Platform.",
		Attributes: map[string]schema.Attribute{
			"configuration": schema.StringAttribute{Required: true, Sensitive: true, Description: "DVPClusterConfiguration as JSON: how DVP is reached, and what is checked before anything is planned."},
			"cluster_uuid":  schema.StringAttribute{Required: true, Description: "Marks what belongs to this cluster."},
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
	if s.Configuration.IsUnknown() || s.ClusterUUID.ValueString() == "" {
		answer.Diagnostics.AddError("DVP cannot be reached", "The provider needs configuration and cluster_uuid before it can plan anything.")
		return
	}
	c, err := configuration.Parse([]byte(s.Configuration.ValueString()))
	var problems configuration.Problems
	if errors.As(err, &problems) {
		for _, problem := range problems {
			answer.Diagnostics.AddError("DVPClusterConfiguration is wrong: "+problem.Field, problem.Text)
		}
		return
	} else if err != nil {
		answer.Diagnostics.AddError("DVPClusterConfiguration cannot be checked", err.Error())
		return
	}
	dvp, err := cloud.Credentials{Kubeconfig: c.Provider.KubeconfigDataBase64, Namespace: c.Provider.Namespace, ClusterUUID: s.ClusterUUID.ValueString()}.Open()
	if err != nil {
		answer.Diagnostics.AddAttributeError(path.Root("configuration"), "DVP cannot be reached", err.Error())
		return
	}
	answer.ResourceData, answer.DataSourceData = dvp, dvp
}

func (p *dvp) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newMachine, newDisk, newAddress, newCloudInit, newPolicy}
}

func (p *dvp) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newClass, newImage}
}
