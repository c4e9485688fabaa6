package fleet

import (
	"context"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// ControlledGroup is a Kubernetes group of a cluster and how its objects are kept.
type ControlledGroup struct {
	Name string
	// Controlled objects are kept as declared; others are made once and then left alone.
	Controlled bool
	// ByTemplate is what the template says.
	ByTemplate bool
	// CanChange tells that the template leaves the choice to who runs the cluster.
	CanChange bool
}

// GroupControls lists the Kubernetes groups of a cluster in the order of its template.
func (f *Fleet) GroupControls(ctx context.Context, actor Actor, id uuid.UUID) ([]ControlledGroup, error) {
	cluster, err := f.cluster(ctx, actor, ClustersView, id)
	if err != nil {
		return nil, err
	}
	return groupControls(ctx, f.Store.Querier, cluster)
}

func groupControls(ctx context.Context, q store.Querier, cluster store.Cluster) ([]ControlledGroup, error) {
	if cluster.TemplateVersionID == nil {
		return nil, nil // attached: it has no groups
	}
	version, err := q.TemplateVersion(ctx, *cluster.TemplateVersionID)
	if err != nil {
		return nil, fmt.Errorf("read the template of cluster %s: %w", cluster.ID, store.AsFault(err))
	}
	out := make([]ControlledGroup, 0, len(version.ResourceGroups))
	for _, g := range version.ResourceGroups {
		group := ControlledGroup{Name: g.Name, Controlled: g.Controlled, ByTemplate: g.Controlled, CanChange: g.UserManaged}
		if own, chosen := cluster.GroupControl[g.Name]; chosen && g.UserManaged {
			group.Controlled = own
		}
		out = append(out, group)
	}
	return out, nil
}

// SetGroupControl chooses how the objects of a group are kept in a cluster; the agent follows at once.
// It fails with Conflict when the template does not leave that to the cluster, and with NotFound when
// there is no such group.
func (f *Fleet) SetGroupControl(ctx context.Context, actor Actor, id uuid.UUID, name string, controlled bool) (store.Cluster, error) {
	return f.mark(ctx, actor, change{Action: "cluster.group_control.change", ObjectID: id}, func(tx *store.Tx, cluster *store.Cluster) (map[string]any, error) {
		groups, err := groupControls(ctx, tx.Querier, *cluster)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			switch {
			case g.Name != name:
				continue
			case !g.CanChange:
				return nil, fault.New(fault.Conflict, "cluster.group.fixed", name)
			case g.Controlled == controlled:
				return nil, nil
			}
			after := store.GroupControl{}
			maps.Copy(after, cluster.GroupControl)
			after[name] = controlled
			cluster.GroupControl = after
			return map[string]any{name: []any{g.Controlled, controlled}}, tx.SetClusterGroupControl(ctx, store.SetClusterGroupControlParams{ID: id, GroupControl: after})
		}
		return nil, fault.New(fault.NotFound, "fault.not_found")
	})
}

// controlled are rendered groups as they are to be kept in a cluster.
func controlled(ctx context.Context, q store.Querier, cluster store.Cluster, rendered []store.RenderedGroup) ([]store.RenderedGroup, error) {
	if len(cluster.GroupControl) == 0 {
		return rendered, nil
	}
	groups, err := groupControls(ctx, q, cluster)
	if err != nil {
		return nil, err
	}
	out := make([]store.RenderedGroup, len(rendered))
	for i, r := range rendered {
		for _, g := range groups {
			if g.Name == r.Name {
				r.Controlled = g.Controlled
			}
		}
		out[i] = r
	}
	return out, nil
}
