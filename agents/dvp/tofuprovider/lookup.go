package tofuprovider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

const kindClass = "VirtualMachineClass"

// lookup finds something of DVP's that a plan needs, so that what is missing is named before
// anything is made.
type lookup struct {
	name   string
	schema schema.Schema
	find   func(ctx context.Context, c *cloud.Cloud, m imageModel) error
	cloud  *cloud.Cloud
}

func newImage() datasource.DataSource {
	return &lookup{name: "image", find: func(ctx context.Context, c *cloud.Cloud, m imageModel) error { return c.Image(ctx, m.Kind, m.Name) }, schema: schema.Schema{
		Description: "An image that machines can boot from.",
		Attributes: map[string]schema.Attribute{
			"kind": schema.StringAttribute{Required: true, Description: "ClusterVirtualImage or VirtualImage.", Validators: []validator.String{oneOf{v1alpha2.KindClusterVirtualImage, v1alpha2.KindVirtualImage}}},
			"name": schema.StringAttribute{Required: true, Description: "Its name."},
		},
	}}
}

func newClass() datasource.DataSource {
	return &lookup{name: "virtual_machine_class", find: func(ctx context.Context, c *cloud.Cloud, m imageModel) error { return c.Class(ctx, m.Name) }, schema: schema.Schema{
		Description: "A class of machines.",
		Attributes: map[string]schema.Attribute{
			"kind": schema.StringAttribute{Computed: true, Description: "VirtualMachineClass."},
			"name": schema.StringAttribute{Required: true, Description: "Its name."},
		},
	}}
}

func (l *lookup) Metadata(_ context.Context, req datasource.MetadataRequest, answer *datasource.MetadataResponse) {
	answer.TypeName = req.ProviderTypeName + "_" + l.name
}

func (l *lookup) Schema(_ context.Context, _ datasource.SchemaRequest, answer *datasource.SchemaResponse) {
	answer.Schema = l.schema
}

func (l *lookup) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	l.cloud, _ = req.ProviderData.(*cloud.Cloud) // nil while OpenTofu only validates
}

func (l *lookup) Read(ctx context.Context, req datasource.ReadRequest, answer *datasource.ReadResponse) {
	var asked struct {
		Kind *string `tfsdk:"kind"`
		Name string  `tfsdk:"name"`
	}
	answer.Diagnostics.Append(req.Config.Get(ctx, &asked)...)
	if answer.Diagnostics.HasError() {
		return
	}
	m := imageModel{Kind: kindClass, Name: asked.Name}
	if asked.Kind != nil {
		m.Kind = *asked.Kind
	}
	switch err := l.find(ctx, l.cloud, m); {
	case cloud.Is(err, cloud.NotFound):
		answer.Diagnostics.AddError(fmt.Sprintf("DVP has no %s %q", m.Kind, m.Name),
			fmt.Sprintf("Make it, or name another: kubectl get %s shows what there is.", l.plural(m.Kind)))
		return
	case err != nil:
		answer.Diagnostics.AddError(fmt.Sprintf("%s %q cannot be read", m.Kind, m.Name), explain(err))
		return
	}
	answer.Diagnostics.Append(answer.State.Set(ctx, &m)...)
}

func (l *lookup) plural(kind string) string {
	return map[string]string{
		kindClass: "virtualmachineclasses", v1alpha2.KindVirtualImage: "virtualimages", v1alpha2.KindClusterVirtualImage: "clustervirtualimages",
	}[kind]
}
