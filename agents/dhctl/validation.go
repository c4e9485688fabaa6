package dhctl

import (
	"context"
	"fmt"

	"commander/agents/dhctl/config"
	pb "commander/agents/dhctl/dhctlpb"
)

// Validation answers the service of that name. It judges documents and touches no cluster.
type Validation struct {
	pb.UnimplementedValidationServer

	Engines map[string]Engine
}

// ValidateResources judges the documents that are to be applied inside a cluster.
func (v *Validation) ValidateResources(_ context.Context, r *pb.ValidateResourcesRequest) (*pb.ValidateResourcesResponse, error) {
	_, err := config.ParseResources(r.GetConfig(), r.GetOpts().GetStrictUnmarshal())
	return &pb.ValidateResourcesResponse{Err: words(err)}, nil
}

// ValidateInitConfig judges an InitConfiguration.
func (v *Validation) ValidateInitConfig(_ context.Context, r *pb.ValidateInitConfigRequest) (*pb.ValidateInitConfigResponse, error) {
	err := config.ValidateInit(r.GetConfig(), r.GetOpts().GetStrictUnmarshal())
	return &pb.ValidateInitConfigResponse{Err: words(err)}, nil
}

// ValidateClusterConfig judges a ClusterConfiguration and returns it with its defaults.
func (v *Validation) ValidateClusterConfig(_ context.Context, r *pb.ValidateClusterConfigRequest) (*pb.ValidateClusterConfigResponse, error) {
	cluster, err := config.ParseCluster(r.GetConfig(), r.GetOpts().GetStrictUnmarshal())
	if err == nil {
		_, err = v.engine(cluster)
	}
	if err != nil {
		return &pb.ValidateClusterConfigResponse{Err: words(err)}, nil
	}
	return &pb.ValidateClusterConfigResponse{ClusterConfig: asJSON(cluster)}, nil
}

// ValidateStaticClusterConfig answers that such clusters are not supported.
func (v *Validation) ValidateStaticClusterConfig(context.Context, *pb.ValidateStaticClusterConfigRequest) (*pb.ValidateStaticClusterConfigResponse, error) {
	_, err := engine(v.Engines, "Static")
	return &pb.ValidateStaticClusterConfigResponse{Err: words(err)}, nil
}

// ValidateProviderSpecificClusterConfig lets the engine of the cluster's kind judge its document.
func (v *Validation) ValidateProviderSpecificClusterConfig(_ context.Context, r *pb.ValidateProviderSpecificClusterConfigRequest) (*pb.ValidateProviderSpecificClusterConfigResponse, error) {
	err := v.provider(r.GetClusterConfig(), r.GetConfig(), r.GetOpts().GetStrictUnmarshal())
	return &pb.ValidateProviderSpecificClusterConfigResponse{Err: words(err)}, nil
}

// ValidateChanges judges whether an existing cluster may be changed to another ClusterConfiguration.
func (v *Validation) ValidateChanges(_ context.Context, r *pb.ValidateChangesRequest) (*pb.ValidateChangesResponse, error) {
	err := config.ValidateChanges(r.GetPhase(), r.GetOldConfig(), r.GetNewConfig(), r.GetOpts().GetStrictUnmarshal())
	return &pb.ValidateChangesResponse{Err: words(err)}, nil
}

// ParseConnectionConfig reads the documents about SSH.
func (v *Validation) ParseConnectionConfig(_ context.Context, r *pb.ParseConnectionConfigRequest) (*pb.ParseConnectionConfigResponse, error) {
	c, err := config.ParseConnection(r.GetConfig(), r.GetOpts().GetStrictUnmarshal(), r.GetOpts().GetRequiredSshHost())
	if err != nil {
		return &pb.ParseConnectionConfigResponse{Err: words(err)}, nil
	}
	return &pb.ParseConnectionConfigResponse{ConnectionConfig: asJSON(c)}, nil
}

// ConfigExtender recommends nothing: the supported kinds of cluster bring their own network.
func (v *Validation) ConfigExtender(_ context.Context, r *pb.ConfigExtenderRequest) (*pb.ConfigExtenderResponse, error) {
	if r.GetKind() != pb.ConfigExtensionKind_CONFIG_EXTENSION_KIND_CNI {
		return &pb.ConfigExtenderResponse{Err: fmt.Sprintf("extensions of kind %s are not known", r.GetKind())}, nil
	}
	cluster, err := config.ParseCluster(r.GetConfig(), false)
	if err == nil {
		_, err = v.engine(cluster)
	}
	return &pb.ConfigExtenderResponse{Err: words(err)}, nil
}

func (v *Validation) engine(c config.Cluster) (Engine, error) { return engine(v.Engines, c.Provider()) }

func (v *Validation) provider(cluster, provider string, strict bool) error {
	c, err := config.ParseCluster(cluster, strict)
	if err != nil {
		return err
	}
	e, err := v.engine(c)
	if err != nil {
		return err
	}
	_, err = e.Wanted(c.Document, provider)
	return err
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
