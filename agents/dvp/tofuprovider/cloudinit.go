package tofuprovider

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	corev1 "k8s.io/api/core/v1"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// cloudInitModel is what a guest configures itself by at its first start.
type cloudInitModel struct {
	Name     types.String      `tfsdk:"name"`
	Labels   map[string]string `tfsdk:"labels"`
	UserData types.String      `tfsdk:"user_data_base64"`
}

func newCloudInit() resource.Resource {
	return &thing[*corev1.Secret, cloudInitModel, *cloudInitModel]{kind: "Secret", name: "cloud_init", schema: schema.Schema{
		Description: "The Secret that a guest configures itself by at its first start.",
		Attributes: map[string]schema.Attribute{
			"name": fixed("Name in the project."), "labels": labels(),
			"user_data_base64": schema.StringAttribute{
				Required: true, Sensitive: true, Description: "The cloud-init document in Base64.",
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}, Validators: []validator.String{isBase64{}},
			},
		},
	}}
}

func (m *cloudInitModel) object() *corev1.Secret { return &corev1.Secret{ObjectMeta: named(m.Name)} }

// want leaves a Secret alone that is there: a machine may have started by it.
func (m *cloudInitModel) want(_ context.Context, secret *corev1.Secret) {
	if secret.UID != "" {
		return
	}
	label(secret, m.Labels)
	text, err := base64.StdEncoding.DecodeString(m.UserData.ValueString())
	if err != nil {
		return // was validated; a Secret without the key keeps its machine waiting and says so
	}
	secret.Type, secret.Data = v1alpha2.SecretTypeCloudInit, map[string][]byte{v1alpha2.SecretKeyUserData: text}
}

func (m *cloudInitModel) has(*corev1.Secret) {}

func (m *cloudInitModel) ready(context.Context, *cloud.Cloud, *corev1.Secret) error { return nil }

type isBase64 struct{}

func (isBase64) Description(context.Context) string             { return "text in Base64" }
func (b isBase64) MarkdownDescription(c context.Context) string { return b.Description(c) }

func (isBase64) ValidateString(_ context.Context, req validator.StringRequest, answer *validator.StringResponse) {
	if value := req.ConfigValue; !value.IsNull() && !value.IsUnknown() {
		if _, err := base64.StdEncoding.DecodeString(value.ValueString()); err != nil {
			answer.Diagnostics.AddAttributeError(req.Path, "Not Base64", fmt.Sprintf("The document has to be given in Base64: %v.", err))
		}
	}
}
