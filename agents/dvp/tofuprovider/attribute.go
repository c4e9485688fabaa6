package tofuprovider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fixed is a text that makes another object when it changes.
func fixed(about string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, Description: about, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}}
}

// told is a text that only DVP knows.
func told(about string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, Description: about, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}}
}

// choice is one of some words, the first if none is given.
func choice(about string, words ...string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString(words[0]), Description: about, Validators: []validator.String{oneOf(words)}}
}

func quantity(about string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, Description: about, Validators: []validator.String{isQuantity{}}}
}

func labels() schema.MapAttribute {
	return schema.MapAttribute{Optional: true, ElementType: types.StringType, Description: "Labels besides those by which the provider knows its objects. What others change of them is left alone."}
}

type oneOf []string

func (o oneOf) Description(context.Context) string {
	return "one of " + strings.Join(o, ", ")
}
func (o oneOf) MarkdownDescription(ctx context.Context) string { return o.Description(ctx) }

func (o oneOf) ValidateString(ctx context.Context, req validator.StringRequest, answer *validator.StringResponse) {
	if value := req.ConfigValue; !value.IsNull() && !value.IsUnknown() && !slices.Contains(o, value.ValueString()) {
		answer.Diagnostics.AddAttributeError(req.Path, "No such choice", fmt.Sprintf("Got %q, want %s.", value.ValueString(), o.Description(ctx)))
	}
}

type isQuantity struct{}

func (isQuantity) Description(context.Context) string             { return "a size such as 8Gi" }
func (q isQuantity) MarkdownDescription(c context.Context) string { return q.Description(c) }

func (isQuantity) ValidateString(_ context.Context, req validator.StringRequest, answer *validator.StringResponse) {
	value := req.ConfigValue
	if value.IsNull() || value.IsUnknown() {
		return
	}
	if parsed, err := resource.ParseQuantity(value.ValueString()); err != nil || parsed.Sign() <= 0 {
		answer.Diagnostics.AddAttributeError(req.Path, "Not a size", fmt.Sprintf("Got %q, want a size such as 8Gi.", value.ValueString()))
	}
}

// size is a quantity that was validated before.
func size(value types.String) resource.Quantity {
	parsed, err := resource.ParseQuantity(value.ValueString())
	if err != nil {
		return resource.Quantity{} // DVP refuses it
	}
	return parsed
}

// sameSize keeps the writing that a person chose while DVP's means the same.
func sameSize(asked types.String, has resource.Quantity) types.String {
	if known := size(asked); known.Cmp(has) == 0 {
		return asked
	}
	return types.StringValue(has.String())
}

// label puts labels on an object besides what it has.
func label(object client.Object, all ...map[string]string) {
	has := object.GetLabels()
	if has == nil {
		has = map[string]string{}
	}
	for _, labels := range all {
		for key, value := range labels {
			has[key] = value
		}
	}
	object.SetLabels(has)
}

func named(name types.String) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name.ValueString()} }
