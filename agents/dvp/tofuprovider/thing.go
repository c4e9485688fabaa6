package tofuprovider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/cloud"
)

// patience is how long DVP may take for one object: an image is copied to a disk, or a machine boots
// on a parent node that has to be started first.
const patience = 30 * time.Minute

// described is one object as OpenTofu knows it, and what it has in DVP.
type described[T client.Object] interface {
	// object is an empty one of the name.
	object() T
	// want writes what is asked for into an object that is new or was read.
	want(ctx context.Context, object T)
	// has takes over what DVP says about an object.
	has(object T)
	// ready waits until an object can be used.
	ready(ctx context.Context, c *cloud.Cloud, object T) error
}

// thing is a kind of resource. M is its model, which describes a T.
type thing[T client.Object, M any, P interface {
	*M
	described[T]
}] struct {
	kind   string // in DVP, for people
	name   string // in OpenTofu, after the provider's
	schema schema.Schema
	cloud  *cloud.Cloud
}

func (t *thing[T, M, P]) Metadata(_ context.Context, req resource.MetadataRequest, answer *resource.MetadataResponse) {
	answer.TypeName = req.ProviderTypeName + "_" + t.name
}

func (t *thing[T, M, P]) Schema(_ context.Context, _ resource.SchemaRequest, answer *resource.SchemaResponse) {
	answer.Schema = t.schema
}

func (t *thing[T, M, P]) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	t.cloud, _ = req.ProviderData.(*cloud.Cloud) // nil while OpenTofu only validates
}

// Create makes an object, or takes over one of this cluster by its name, and waits for it. If DVP
// says that what it just made failed, the object is noted as tainted, to be made anew. One that may
// yet become ready, or that was there before, is not: it is taken over by the next apply.
func (t *thing[T, M, P]) Create(ctx context.Context, req resource.CreateRequest, answer *resource.CreateResponse) {
	m := P(new(M))
	answer.Diagnostics.Append(req.Plan.Get(ctx, m)...)
	if answer.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	object, fresh, err := t.make(ctx, m)
	if err != nil {
		answer.Diagnostics.AddError(fmt.Sprintf("%s %q is not there", t.kind, m.object().GetName()), explain(err))
	}
	if err == nil || fresh && (cloud.Is(err, cloud.Failed) || cloud.Is(err, cloud.Quota)) {
		m.has(object)
		answer.Diagnostics.Append(answer.State.Set(ctx, m)...)
	}
}

func (t *thing[T, M, P]) make(ctx context.Context, m P) (object T, fresh bool, err error) {
	object = m.object()
	switch err := t.cloud.Read(ctx, object); {
	case cloud.Is(err, cloud.NotFound):
		fresh = true
	case err != nil:
		return object, false, err
	case object.GetDeletionTimestamp() != nil && t.cloud.Owned(object): // by an apply that was to replace it
		if err := t.cloud.Delete(ctx, object); err != nil {
			return object, false, err
		}
		fresh = true
	}
	if object, err = cloud.Apply(ctx, t.cloud, m.object(), func(o T) { m.want(ctx, o) }); err != nil {
		return object, false, err
	}
	return object, fresh, m.ready(ctx, t.cloud, object)
}

// Read forgets an object only if DVP says twice that there is none, or that it is on its way out.
func (t *thing[T, M, P]) Read(ctx context.Context, req resource.ReadRequest, answer *resource.ReadResponse) {
	m := P(new(M))
	answer.Diagnostics.Append(req.State.Get(ctx, m)...)
	if answer.Diagnostics.HasError() {
		return
	}
	object := m.object()
	err := t.cloud.Read(ctx, object)
	if cloud.Is(err, cloud.NotFound) {
		var gone bool
		if gone, err = cloud.Gone(ctx, func(ctx context.Context) error { return t.cloud.Read(ctx, object) }); gone {
			answer.State.RemoveResource(ctx)
			return
		}
	}
	switch {
	case err != nil:
		answer.Diagnostics.AddError(fmt.Sprintf("%s %q cannot be read", t.kind, m.object().GetName()), explain(err))
	case !t.cloud.Owned(object):
		answer.Diagnostics.AddError(fmt.Sprintf("%s %q is not of this cluster", t.kind, object.GetName()),
			"An object of another owner has its name. Remove or rename that object; it is not touched.")
	case object.GetDeletionTimestamp() != nil:
		answer.State.RemoveResource(ctx)
	default:
		m.has(object)
		answer.Diagnostics.Append(answer.State.Set(ctx, m)...)
	}
}

// Update changes what can be changed of an object and waits for it.
func (t *thing[T, M, P]) Update(ctx context.Context, req resource.UpdateRequest, answer *resource.UpdateResponse) {
	m := P(new(M))
	answer.Diagnostics.Append(req.Plan.Get(ctx, m)...)
	if answer.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	object, _, err := t.make(ctx, m)
	if err != nil {
		answer.Diagnostics.AddError(fmt.Sprintf("%s %q is not changed", t.kind, m.object().GetName()), explain(err))
		return
	}
	m.has(object)
	answer.Diagnostics.Append(answer.State.Set(ctx, m)...)
}

// Delete removes an object of this cluster and waits for its end.
func (t *thing[T, M, P]) Delete(ctx context.Context, req resource.DeleteRequest, answer *resource.DeleteResponse) {
	m := P(new(M))
	answer.Diagnostics.Append(req.State.Get(ctx, m)...)
	if answer.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	object := m.object()
	err := t.cloud.Read(ctx, object)
	switch {
	case cloud.Is(err, cloud.NotFound):
		var gone bool
		if gone, err = cloud.Gone(ctx, func(ctx context.Context) error { return t.cloud.Read(ctx, object) }); gone || err != nil {
			break
		}
		err = t.cloud.Delete(ctx, object)
	case err == nil && t.cloud.Owned(object):
		err = t.cloud.Delete(ctx, object)
	}
	if err != nil {
		answer.Diagnostics.AddError(fmt.Sprintf("%s %q is still there", t.kind, m.object().GetName()), explain(err))
	}
}

// explain adds to an error what a person can do about it.
func explain(err error) string {
	hint := map[cloud.Kind]string{
		cloud.Quota:       "DVP's quota for the project is used up: raise it or free something, and apply again.",
		cloud.Forbidden:   "The account of the kubeconfig has not the right; docs/dvp.md lists the rights that are needed.",
		cloud.Unreachable: "Nothing is known about it; apply again when DVP answers.",
	}[cloud.KindOf(err)]
	if hint == "" {
		return err.Error()
	}
	return err.Error() + "\n\n" + hint
}
