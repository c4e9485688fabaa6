package dhctl

import (
	"context"
	"errors"
	"fmt"

	"commander/agents/dhctl/config"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// Bootstrap makes a cluster out of its documents.
func (s *Server) Bootstrap(stream pb.DHCTL_BootstrapServer) error {
	w := wire[pb.BootstrapStart]{
		recv: func() (message[pb.BootstrapStart], error) {
			m, err := stream.Recv()
			return message[pb.BootstrapStart]{m.GetStart(), answered(m.GetContinue()), m.GetCancel() != nil}, err
		},
		logs: func(l *pb.Logs) error {
			return stream.Send(&pb.BootstrapResponse{Message: &pb.BootstrapResponse_Logs{Logs: l}})
		},
		progress: func(p *pb.Progress) error {
			return stream.Send(&pb.BootstrapResponse{Message: &pb.BootstrapResponse_Progress{Progress: p}})
		},
		phaseEnd: func(e phases.End) error {
			return stream.Send(&pb.BootstrapResponse{Message: &pb.BootstrapResponse_PhaseEnd{PhaseEnd: &pb.BootstrapPhaseEnd{
				CompletedPhase: e.Completed, CompletedPhaseState: e.State, NextPhase: e.Next, NextPhaseCritical: e.NextCritical,
			}}})
		},
		result: func(o outcome) error {
			return stream.Send(&pb.BootstrapResponse{Message: &pb.BootstrapResponse_Result{Result: &pb.BootstrapResult{State: o.state, Err: o.err}}})
		},
	}
	return converse(stream.Context(), s, w, func(ctx context.Context, t *talk[pb.BootstrapStart], m *pb.BootstrapStart) outcome {
		return s.operate(ctx, t, request{
			operation: phases.OperationBootstrap, options: m.GetOptions(), state: m.GetState(),
			cluster: m.GetClusterConfig(), provider: m.GetProviderSpecificClusterConfig(), connection: m.GetConnectionConfig(),
		}, bootstrapSteps(m))
	})
}

func bootstrapSteps(m *pb.BootstrapStart) func(*operation) ([]phases.Step, error) {
	return func(o *operation) ([]phases.Step, error) {
		resources, err := config.ParseResources(m.GetInitResources()+"\n---\n"+m.GetResources(), true)
		if err != nil {
			return nil, err
		}
		if m.GetPostBootstrapScript() != "" {
			return nil, errors.New("a script after the installation is not supported yet for this kind of cluster")
		}
		if err := o.want(); err != nil {
			return nil, err
		}
		documents := input(o.cluster, o.provider)
		all := input(o.cluster, o.provider, m.GetInitResources(), m.GetResources())
		return []phases.Step{
			{Phase: phases.BaseInfra, Input: documents, Run: o.ensureBase},
			{Phase: phases.RegistryPackagesProxyBundle, Skip: true},
			{Phase: phases.ExecuteBashibleBundle, Skip: true},
			{Phase: phases.InstallDeckhouse, Input: documents, Parts: []phases.Part{
				{Name: phases.ConnectToMaster, Run: o.connectToMaster},
				{Name: phases.InstallDeckhouse, Run: o.adopt},
				{Name: phases.WaitForFirstMasterReady, Run: o.waitReady},
			}},
			{Phase: phases.InstallAdditionalMastersAndStaticNodes, Input: documents, Run: o.ensureExactMachines},
			{Phase: phases.CreateResources, Input: all, Run: func(ctx context.Context) error { return o.createResources(ctx, resources) }},
			{Phase: phases.ExecPostBootstrap, Skip: true},
			{Phase: phases.Finalization, Input: all, Run: o.finalCheck},
		}, nil
	}
}

func (o *operation) ensureBase(ctx context.Context) error {
	return o.engine.EnsureBase(ctx, o.id, o.document, o.provider, o.log)
}

func (o *operation) connectToMaster(ctx context.Context) error {
	_, err := o.api(ctx)
	return err
}

// adopt writes into the cluster whose it is and what it was made from.
func (o *operation) adopt(ctx context.Context) error {
	if err := o.waitReady(ctx); err != nil {
		return err
	}
	api, err := o.api(ctx)
	if err != nil {
		return err
	}
	if err := o.checkOwner(ctx, api); err != nil {
		return err
	}
	return api.Adopt(ctx, o.id, o.document, o.provider)
}

// checkOwner fails when the cluster is another Commander's.
func (o *operation) checkOwner(ctx context.Context, api API) error {
	owner, err := api.Owner(ctx)
	if err != nil {
		return err
	}
	if owner != "" && owner != o.id {
		return fmt.Errorf("the cluster is managed by another Commander, as %s", owner)
	}
	return nil
}

func (o *operation) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.deckhouseTimeout)
	defer cancel()
	api, err := o.api(ctx)
	if err != nil {
		return err
	}
	return api.Ready(ctx)
}

// ensureExactMachines makes the machines of a cluster that nobody works in yet, so it removes
// what an earlier attempt with other documents left.
func (o *operation) ensureExactMachines(ctx context.Context) error {
	there, err := o.engine.Observe(ctx, o.id)
	if err != nil {
		return err
	}
	return o.engine.EnsureMachines(ctx, o.id, o.document, o.provider, difference(o.wanted, there).removed(), o.log)
}

func (o *operation) createResources(ctx context.Context, r config.Resources) error {
	ctx, cancel := context.WithTimeout(ctx, o.resourcesTimeout)
	defer cancel()
	if err := o.ensureAgent(ctx, r.Agent); err != nil {
		return err
	}
	api, err := o.api(ctx)
	if err != nil {
		return err
	}
	var objects []map[string]any
	for _, d := range r.Objects {
		objects = append(objects, d.Object)
	}
	return api.Apply(ctx, objects, o.log)
}

func (o *operation) ensureAgent(ctx context.Context, a *config.Agent) error {
	if a == nil {
		return nil
	}
	o.log("Starting Commander's agent")
	return o.engine.EnsureAgent(ctx, o.id, a.CommanderURL, a.Token, a.CABundle)
}

// finalCheck fails when the cluster is not what was asked for.
func (o *operation) finalCheck(ctx context.Context) error {
	there, err := o.engine.Observe(ctx, o.id)
	if err != nil {
		return err
	}
	p := difference(o.wanted, there)
	if p.status() == InSync {
		return nil
	}
	for _, n := range p.nodes {
		if n.Status != partOK {
			o.log("Node " + n.Name + " is " + n.Status)
		}
	}
	return fmt.Errorf("the cluster differs from its configuration: %s", p.status())
}
