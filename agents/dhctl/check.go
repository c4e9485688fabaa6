package dhctl

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"

	"commander/agents/dhctl/config"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// Check compares a cluster with its documents and changes nothing.
func (s *Server) Check(stream pb.DHCTL_CheckServer) error {
	w := wire[pb.CheckStart]{
		recv: func() (message[pb.CheckStart], error) {
			m, err := stream.Recv()
			return message[pb.CheckStart]{start: m.GetStart(), cancel: m.GetCancel() != nil}, err
		},
		logs: func(l *pb.Logs) error {
			return stream.Send(&pb.CheckResponse{Message: &pb.CheckResponse_Logs{Logs: l}})
		},
		progress: func(p *pb.Progress) error {
			return stream.Send(&pb.CheckResponse{Message: &pb.CheckResponse_Progress{Progress: p}})
		},
		result: func(o outcome) error {
			return stream.Send(&pb.CheckResponse{Message: &pb.CheckResponse_Result{Result: &pb.CheckResult{Result: o.json, Err: o.err, State: o.state}}})
		},
	}
	return converse(stream.Context(), s, w, func(ctx context.Context, t *talk[pb.CheckStart], m *pb.CheckStart) outcome {
		c := &check{}
		out := s.operate(ctx, t, request{
			operation: phases.OperationCheck, options: m.GetOptions(), state: m.GetState(),
			cluster: m.GetClusterConfig(), provider: m.GetProviderSpecificClusterConfig(),
		}, func(o *operation) ([]phases.Step, error) {
			c.operation = o
			return []phases.Step{
				{Phase: phases.CheckInfra, Run: c.infra},
				{Phase: phases.CheckConfiguration, Run: c.configuration},
			}, o.want()
		})
		if out.err == "" && c.complete {
			out.json = asJSON(c.result)
		}
		return out
	})
}

// check gathers a CheckResult in two steps.
type check struct {
	*operation
	plan     plan
	result   CheckResult
	complete bool
}

func (c *check) infra(ctx context.Context) error {
	there, err := c.engine.Observe(ctx, c.id)
	if err != nil {
		return err
	}
	c.plan = difference(c.wanted, there)
	c.result = CheckResult{
		Status:              c.plan.status(),
		DestructiveChangeID: c.plan.destructiveID(),
		Details: StatusDetails{
			InfrastructureStatus: c.plan.status(),
			Cluster:              ClusterStatus{Status: c.plan.base},
			Nodes:                c.plan.nodes,
		},
	}
	if c.plan.why != nil {
		c.result.Details.Cluster.Reason = c.plan.why.Error()
	}
	return nil
}

func (c *check) configuration(ctx context.Context) error {
	status, err := c.compareConfiguration(ctx)
	if err != nil {
		return err
	}
	c.result.Details.ConfigurationStatus = status
	c.result.Status = worse(c.result.Status, status)
	c.complete = true
	return nil
}

// compareConfiguration looks at the owner and the documents inside the cluster. A cluster that
// nobody owns is out of sync, so that a converge takes it over.
func (c *check) compareConfiguration(ctx context.Context) (string, error) {
	if c.plan.base == partAbsent {
		return OutOfSync, nil
	}
	api, err := c.api(ctx)
	if err != nil {
		return "", err
	}
	if err := c.checkOwner(ctx, api); err != nil {
		return "", err
	}
	owner, err := api.Owner(ctx)
	if err != nil {
		return "", err
	}
	cluster, provider, err := api.Configuration(ctx)
	if err != nil {
		return "", err
	}
	c.result.Actual = &Documents{Cluster: cluster, Provider: provider}
	if owner == "" || !sameDocuments(cluster, c.document) || !sameDocuments(provider, c.provider) {
		return OutOfSync, nil
	}
	return InSync, nil
}

// sameDocuments compares what documents mean, not how they are written.
func sameDocuments(a, b string) bool {
	one, err := config.Documents(a)
	if err != nil {
		return false
	}
	two, err := config.Documents(b)
	if err != nil || len(one) != len(two) {
		return false
	}
	for i := range one {
		if !equality.Semantic.DeepEqual(one[i].Object, two[i].Object) {
			return false
		}
	}
	return true
}

func asJSON(result any) string {
	raw, err := json.Marshal(result)
	if err != nil {
		panic(fmt.Sprintf("encode result: %v", err)) // strings and lists of strings always encode
	}
	return string(raw)
}
