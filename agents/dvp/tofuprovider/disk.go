package tofuprovider

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/api/meta"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// diskModel is a disk: blank, or a copy of an image.
type diskModel struct {
	Name         types.String      `tfsdk:"name"`
	Labels       map[string]string `tfsdk:"labels"`
	Size         types.String      `tfsdk:"size"`
	StorageClass types.String      `tfsdk:"storage_class"`
	Image        *imageModel       `tfsdk:"image"`
	UID          types.String      `tfsdk:"uid"`
	DevicePath   types.String      `tfsdk:"device_path"`
}

type imageModel struct {
	Kind string `tfsdk:"kind"`
	Name string `tfsdk:"name"`
}

func newDisk() resource.Resource {
	return &thing[*v1alpha2.VirtualDisk, diskModel, *diskModel]{kind: "VirtualDisk", name: "virtual_disk", schema: schema.Schema{
		Description: "A disk. It grows in place; DVP refuses to shrink one.",
		Attributes: map[string]schema.Attribute{
			"name": fixed("Name in the project."), "labels": labels(), "size": quantity("Size, such as 20Gi."),
			"storage_class": schema.StringAttribute{
				Optional: true, Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
				Description: "StorageClass of DVP, its default if none is given. A change moves the disk.",
			},
			"image": schema.SingleNestedAttribute{
				Optional: true, PlanModifiers: []planmodifier.Object{objectplanmodifier.RequiresReplace()}, Description: "Image that it is a copy of; without one it is blank.",
				Attributes: map[string]schema.Attribute{
					"kind": schema.StringAttribute{Required: true, Description: "ClusterVirtualImage or VirtualImage.", Validators: []validator.String{oneOf{v1alpha2.KindClusterVirtualImage, v1alpha2.KindVirtualImage}}},
					"name": schema.StringAttribute{Required: true, Description: "Name of the image."},
				},
			},
			"uid":         told("Uid of the object in DVP."),
			"device_path": told("Link by which the guest finds the disk."),
		},
	}}
}

func (m *diskModel) object() *v1alpha2.VirtualDisk {
	return &v1alpha2.VirtualDisk{ObjectMeta: named(m.Name)}
}

func (m *diskModel) want(_ context.Context, disk *v1alpha2.VirtualDisk) {
	label(disk, m.Labels, map[string]string{cloud.LabelDisk: m.Name.ValueString()})
	wanted := size(m.Size)
	disk.Spec.PersistentVolumeClaim.Size = &wanted
	if class := m.StorageClass.ValueString(); class != "" {
		disk.Spec.PersistentVolumeClaim.StorageClassName = &class
	}
	if m.Image != nil && disk.Spec.DataSource == nil {
		disk.Spec.DataSource = &v1alpha2.DataSource{Type: "ObjectRef", ObjectRef: &v1alpha2.ObjectRefSource{Kind: m.Image.Kind, Name: m.Image.Name}}
	}
}

func (m *diskModel) has(disk *v1alpha2.VirtualDisk) {
	if asked := disk.Spec.PersistentVolumeClaim.Size; asked != nil {
		m.Size = sameSize(m.Size, *asked)
	}
	switch asked := disk.Spec.PersistentVolumeClaim.StorageClassName; {
	case asked != nil:
		m.StorageClass = types.StringValue(*asked)
	default:
		m.StorageClass = types.StringValue(disk.Status.StorageClassName)
	}
	m.UID = types.StringValue(string(disk.UID))
	m.DevicePath = types.StringValue(v1alpha2.DeviceLinkPrefix + v1alpha2.DiskSerial(disk.UID))
}

// hopeless are reasons for which an apply does not go on waiting: a person has to do something.
var hopeless = []string{
	v1alpha2.DiskImageNotReady, v1alpha2.DiskClusterImageNotReady, v1alpha2.DiskImageNotFound, v1alpha2.DiskClusterImageNotFound,
	v1alpha2.DiskProvisioningFailed, v1alpha2.DiskPVCLost, v1alpha2.DiskQuotaExceeded, v1alpha2.DiskImagePullFailed,
	v1alpha2.DiskDatasourceNotReady, v1alpha2.DiskDatasourceNotFound,
}

func (m *diskModel) ready(ctx context.Context, c *cloud.Cloud, disk *v1alpha2.VirtualDisk) error {
	wanted := size(m.Size)
	if disk.Status.Phase == v1alpha2.DiskPhaseReady || disk.Status.Phase == v1alpha2.DiskPhaseResizing {
		return c.ResizeDisk(ctx, disk, wanted.Value()) // which waits until it has grown
	}
	return cloud.Await(ctx, c, disk, func(now *v1alpha2.VirtualDisk) (bool, error) {
		if usable, err := cloud.DiskUsable(now); usable || err != nil {
			return usable, err
		}
		for _, kind := range []string{v1alpha2.DiskReady, v1alpha2.DiskDatasourceReady} {
			if is := meta.FindStatusCondition(now.Status.Conditions, kind); is != nil && is.ObservedGeneration == now.Generation && slices.Contains(hopeless, is.Reason) {
				return false, &cloud.Error{Kind: cloud.Failed, Doing: fmt.Sprintf("provide VirtualDisk %q", now.Name), Cause: fmt.Errorf("%s: %s", is.Reason, is.Message)}
			}
		}
		return false, nil
	})
}
