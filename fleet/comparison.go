package fleet

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// What a configuration of a cluster is called when two are compared. A number stands for the
// revision of that number.
const (
	SideDesired = "desired" // what the cluster is to have
	SideApplied = "applied" // what was applied last
	SideActual  = "actual"  // what the last check read in the cluster
)

// Side is one of two configurations that are compared.
type Side struct {
	// Name is SideDesired, SideApplied or a revision's number, as it was asked for.
	Name     string
	Revision int
	// Shown has masks in place of secrets.
	Shown          store.Rendered
	TemplateName   string
	TemplateNumber int
	At             time.Time
	By             string
}

// Sides reads two configurations of a cluster, to be compared. It fails with NotFound when the
// cluster never had one of them.
func (f *Fleet) Sides(ctx context.Context, actor Actor, id uuid.UUID, from, to string) (before, after Side, err error) {
	cluster, err := f.cluster(ctx, actor, ClustersView, id)
	if err != nil {
		return before, after, err
	}
	if before, err = f.side(ctx, cluster, from); err != nil {
		return before, after, err
	}
	if after, err = f.side(ctx, cluster, to); err != nil {
		return before, after, err
	}
	if from == SideActual || to == SideActual {
		// In the cluster stand only these two; the rest is the agent's, which compares by itself.
		before.Shown, after.Shown = infrastructure(before.Shown), infrastructure(after.Shown)
	}
	return before, after, nil
}

func infrastructure(r store.Rendered) store.Rendered {
	return store.Rendered{ClusterConfiguration: r.ClusterConfiguration, ProviderConfiguration: r.ProviderConfiguration}
}

func (f *Fleet) side(ctx context.Context, cluster store.Cluster, name string) (Side, error) {
	side := Side{Name: name}
	switch name {
	case SideActual:
		return f.actualSide(ctx, cluster)
	case SideDesired:
		side.Revision = cluster.Revision
	case SideApplied:
		if cluster.AppliedRevision == nil {
			return side, fault.New(fault.NotFound, "cluster.never_applied", cluster.Name)
		}
		side.Revision = *cluster.AppliedRevision
	default:
		revision, err := strconv.Atoi(name)
		if err != nil {
			return side, fault.New(fault.NotFound, "fault.not_found")
		}
		side.Revision = revision
	}
	found, err := f.configuration(ctx, f.Store.Querier, cluster.ID, side.Revision)
	if err != nil {
		return side, store.AsFault(err)
	}
	side.Shown, side.At, side.By = found.Rendering.Shown, found.CreatedAt, found.CreatedBy
	if found.TemplateVersionID == nil {
		return side, nil
	}
	version, err := f.Store.TemplateVersion(ctx, *found.TemplateVersionID)
	if err != nil {
		return side, store.AsFault(err)
	}
	side.TemplateNumber = version.Number
	template, err := f.Store.Template(ctx, version.TemplateID)
	side.TemplateName = template.Name
	return side, store.AsFault(err)
}
