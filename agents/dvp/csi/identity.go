package csi

import (
	"context"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"commander/agents/dvp/cloud"
)

// Identity says who the driver is and whether it can work.
type Identity struct {
	csipb.UnimplementedIdentityServer
	Version string
	Cloud   *cloud.Cloud
}

// GetPluginInfo names the driver.
func (i *Identity) GetPluginInfo(context.Context, *csipb.GetPluginInfoRequest) (*csipb.GetPluginInfoResponse, error) {
	return &csipb.GetPluginInfoResponse{Name: Name, VendorVersion: i.Version}, nil
}

// GetPluginCapabilities says that there is a controller, and that volumes grow while they are used.
func (i *Identity) GetPluginCapabilities(context.Context, *csipb.GetPluginCapabilitiesRequest) (*csipb.GetPluginCapabilitiesResponse, error) {
	return &csipb.GetPluginCapabilitiesResponse{Capabilities: []*csipb.PluginCapability{
		{Type: &csipb.PluginCapability_Service_{Service: &csipb.PluginCapability_Service{Type: csipb.PluginCapability_Service_CONTROLLER_SERVICE}}},
		{Type: &csipb.PluginCapability_VolumeExpansion_{VolumeExpansion: &csipb.PluginCapability_VolumeExpansion{Type: csipb.PluginCapability_VolumeExpansion_ONLINE}}},
	}}, nil
}

// Probe is FailedPrecondition while DVP does not answer.
func (i *Identity) Probe(ctx context.Context, _ *csipb.ProbeRequest) (*csipb.ProbeResponse, error) {
	if err := i.Cloud.Ping(ctx); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return &csipb.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}
