package dhctl

import (
	"context"
	"errors"
	"fmt"

	"commander/agents/dhctl/config"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// AttachResult is the JSON in the result of an attachment, and the data of its phase Scan.
type AttachResult struct {
	// Actual are the documents of the cluster: its own, or what was made of what there is.
	Actual            *Documents `json:"actual"`
	KubernetesVersion string     `json:"kubernetes_version"`
	// Warning is why the last phase found the cluster not as it should be; it is no failure.
	Warning string `json:"warning,omitempty"`
}

// CommanderAttach takes over a cluster that was made elsewhere and is reached by the kubeconfig
// in connection_config. It refuses a cluster that another Commander owns.
func (s *Server) CommanderAttach(stream pb.DHCTL_CommanderAttachServer) error {
	a := &attach{}
	w := wire[pb.CommanderAttachStart]{
		recv: func() (message[pb.CommanderAttachStart], error) {
			m, err := stream.Recv()
			return message[pb.CommanderAttachStart]{m.GetStart(), answered(m.GetContinue()), m.GetCancel() != nil}, err
		},
		logs: func(l *pb.Logs) error {
			return stream.Send(&pb.CommanderAttachResponse{Message: &pb.CommanderAttachResponse_Logs{Logs: l}})
		},
		progress: func(p *pb.Progress) error {
			return stream.Send(&pb.CommanderAttachResponse{Message: &pb.CommanderAttachResponse_Progress{Progress: p}})
		},
		phaseEnd: func(e phases.End) error {
			end := &pb.CommanderAttachPhaseEnd{
				CompletedPhase: e.Completed, CompletedPhaseState: e.State, NextPhase: e.Next, NextPhaseCritical: e.NextCritical,
			}
			if e.Completed == phases.Scan {
				end.CompletedPhaseData = asJSON(a.result)
			}
			return stream.Send(&pb.CommanderAttachResponse{Message: &pb.CommanderAttachResponse_PhaseEnd{PhaseEnd: end}})
		},
		result: func(o outcome) error {
			return stream.Send(&pb.CommanderAttachResponse{Message: &pb.CommanderAttachResponse_Result{Result: &pb.CommanderAttachResult{State: o.state, Result: o.json, Err: o.err}}})
		},
	}
	return converse(stream.Context(), s, w, func(ctx context.Context, t *talk[pb.CommanderAttachStart], m *pb.CommanderAttachStart) outcome {
		out := s.operate(ctx, t, request{
			operation: phases.OperationAttach, options: m.GetOptions(), kubeconfig: m.GetConnectionConfig(), withoutDocuments: true,
		}, func(o *operation) ([]phases.Step, error) {
			a.operation = o
			resources, err := config.ParseResources(m.GetResourcesTemplate(), true)
			if err != nil {
				return nil, err
			}
			steps := []phases.Step{{Phase: phases.Scan, Run: a.scan}}
			if m.ScanOnly == nil || m.GetScanOnly() { // to look is the default
				return steps, nil
			}
			return append(steps,
				phases.Step{Phase: phases.Capture, Run: func(ctx context.Context) error { return a.capture(ctx, resources) }},
				phases.Step{Phase: phases.Check, Run: a.verify},
			), nil
		})
		if out.err == "" && a.result.Actual != nil {
			out.json = asJSON(a.result)
		}
		return out
	})
}

type attach struct {
	*operation
	result AttachResult
}

// scan reads what the cluster is, and changes nothing.
func (a *attach) scan(ctx context.Context) error {
	if len(a.kubeconfig) == 0 {
		return errors.New("connection_config: a kubeconfig is required")
	}
	api, err := a.api(ctx)
	if err != nil {
		return err
	}
	a.log("Connecting to the API server")
	version, err := api.Version(ctx)
	if err != nil {
		return err
	}
	a.log("The cluster runs Kubernetes " + version)
	if err := a.checkOwner(ctx, api); err != nil {
		return err
	}
	cluster, provider, err := api.Configuration(ctx)
	if err != nil {
		return err
	}
	if cluster == "" {
		a.log("The cluster has no configuration of its own: one is made of what there is")
		if cluster, err = a.described(ctx, api, version); err != nil {
			return err
		}
	} else {
		a.log("The configuration of the cluster was read")
	}
	a.result = AttachResult{Actual: &Documents{Cluster: cluster, Provider: provider}, KubernetesVersion: version}
	return nil
}

// described makes the ClusterConfiguration of a cluster that has none. Networks that cannot be
// read have the platform's defaults: nothing is ever built from them.
func (a *attach) described(ctx context.Context, api API, version string) (string, error) {
	pods, services, err := api.Networks(ctx)
	if err != nil {
		return "", err
	}
	document := fmt.Sprintf(`apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Static
kubernetesVersion: %q
podSubnetCIDR: %s
serviceSubnetCIDR: %s
clusterDomain: cluster.local
`, version, orDefault(pods, "10.111.0.0/16"), orDefault(services, "10.222.0.0/16"))
	if _, err := config.ParseCluster(document, true); err != nil {
		return "", fmt.Errorf("describe the cluster: %w", err)
	}
	return document, nil
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// capture writes whose the cluster is into it and runs the agent.
func (a *attach) capture(ctx context.Context, r config.Resources) error {
	api, err := a.api(ctx)
	if err != nil {
		return err
	}
	if err := a.checkOwner(ctx, api); err != nil {
		return err
	}
	if a.result.Actual == nil { // an earlier attempt scanned
		if err := a.scan(ctx); err != nil {
			return err
		}
	}
	if err := api.Adopt(ctx, a.id, a.result.Actual.Cluster, a.result.Actual.Provider); err != nil {
		return err
	}
	a.log("The cluster is marked as managed by this Commander")
	return a.createResources(ctx, r)
}

// verify compares the cluster with what was read. What is wrong is told and does not undo the rest.
func (a *attach) verify(ctx context.Context) error {
	warn := func(err error) {
		a.result.Warning = err.Error()
		a.log("Warning: " + a.result.Warning)
	}
	if a.result.Actual == nil {
		if err := a.scan(ctx); err != nil {
			return err
		}
	}
	a.document, a.provider = a.result.Actual.Cluster, a.result.Actual.Provider
	if err := a.want(); err != nil {
		warn(err)
		return nil
	}
	c := &check{operation: a.operation}
	if err := c.infra(ctx); err != nil {
		warn(err)
		return nil
	}
	if err := c.configuration(ctx); err != nil {
		warn(err)
		return nil
	}
	if c.result.Status != InSync {
		warn(fmt.Errorf("the cluster is %s", c.result.Status))
	}
	return nil
}
