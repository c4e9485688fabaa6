package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

// life are the addresses of how a cluster is kept, what it was to be, and where it goes.
func (a *api) life(r chi.Router) {
	const cluster = paths.RouteAPI + "/clusters/{id}"
	r.Get(cluster+"/settings", a.handler(a.showSettings))
	r.Put(cluster+"/settings", a.handler(a.changeSettings))
	r.Get(cluster+"/revisions", a.handler(a.listRevisions))
	r.Get(cluster+"/comparison", a.handler(a.compare))
	r.Post(cluster+"/rollback", a.handler(a.rollback))
	r.Post(paths.RouteAPI+"/clusters/attach", a.handler(a.attachCluster))
	r.Post(cluster+"/join", a.handler(a.joinCluster))
	r.Post(cluster+"/detach", a.handler(a.detachCluster))
	r.Post(cluster+"/install", a.handler(a.installCluster))
	r.Post(cluster+"/converge", a.handler(a.convergeCluster))
	r.Post(cluster+"/archive", a.handler(a.archiveCluster))
	r.Post(cluster+"/move/preview", a.handler(a.previewMove))
	r.Post(cluster+"/move", a.handler(a.moveCluster))
	r.Post(cluster+"/upgrade/preview", a.handler(a.previewUpgrade))
	r.Post(cluster+"/upgrade", a.handler(a.upgradeCluster))
	r.Get(paths.RouteAPI+"/cluster_change_requests", a.handler(a.listChangeRequests))
	r.Post(paths.RouteAPI+"/cluster_change_requests/{id}/approve", a.handler(a.approveChangeRequest))
	a.together(r)
	a.automation(r)
	a.tasks(r)
}

// settings are how a cluster is kept as declared, and whether it can be deleted.
type settings struct {
	ClusterManager clusterManager `json:"cluster_manager"`
	IsLocked       bool           `json:"is_locked"`
	Groups         []groupSetting `json:"kubernetes_resource_groups"`
}

// groupSetting is how the objects of a Kubernetes group are kept.
type groupSetting struct {
	Name       string `json:"name"`
	Controlled bool   `json:"controlled"`
	CanChange  bool   `json:"can_change"`
}

type clusterManager struct {
	Sync struct {
		Mode store.SyncMode `json:"mode"`
	} `json:"sync"`
	CheckInterval int `json:"check_interval"` // minutes
}

func settingsOf(c store.Cluster, groups []fleet.ControlledGroup) settings {
	s := settings{IsLocked: c.IsLocked, ClusterManager: clusterManager{CheckInterval: c.CheckIntervalMinutes}, Groups: []groupSetting{}}
	s.ClusterManager.Sync.Mode = c.SyncMode
	for _, g := range groups {
		s.Groups = append(s.Groups, groupSetting{g.Name, g.Controlled, g.CanChange})
	}
	return s
}

func (a *api) showSettings(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	actor := callerOf(r.Context()).actor
	view, err := a.fleet.Cluster(r.Context(), actor, id)
	if err != nil {
		return err
	}
	groups, err := a.fleet.GroupControls(r.Context(), actor, id)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, settingsOf(view.Cluster, groups))
	return nil
}

// changeSettings changes what the body names and leaves the rest as it is.
func (a *api) changeSettings(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var body struct {
		ClusterManager *struct {
			Sync *struct {
				Mode *store.SyncMode `json:"mode"`
			} `json:"sync"`
			CheckInterval *int `json:"check_interval"`
		} `json:"cluster_manager"`
		IsLocked *bool `json:"is_locked"`
		Groups   []struct {
			Name       *string `json:"name"`
			Controlled *bool   `json:"controlled"`
		} `json:"kubernetes_resource_groups"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	for _, g := range body.Groups {
		if err := require(attribute{"kubernetes_resource_groups.name", g.Name != nil}, attribute{"kubernetes_resource_groups.controlled", g.Controlled != nil}); err != nil {
			return err
		}
	}
	actor := callerOf(r.Context()).actor
	view, err := a.fleet.Cluster(r.Context(), actor, id)
	if err != nil {
		return err
	}
	if m := body.ClusterManager; m != nil {
		wanted := fleet.ClusterSettings{Mode: view.SyncMode, CheckEvery: view.CheckIntervalMinutes}
		if m.Sync != nil && m.Sync.Mode != nil {
			wanted.Mode = *m.Sync.Mode
		}
		if m.CheckInterval != nil {
			wanted.CheckEvery = *m.CheckInterval
		}
		if _, err = a.fleet.SetClusterSettings(r.Context(), actor, id, wanted); err != nil {
			return err
		}
	}
	if body.IsLocked != nil {
		if _, err = a.fleet.LockCluster(r.Context(), actor, id, *body.IsLocked); err != nil {
			return err
		}
	}
	for _, g := range body.Groups {
		if _, err := a.fleet.SetGroupControl(r.Context(), actor, id, *g.Name, *g.Controlled); err != nil {
			return err
		}
	}
	return a.showSettings(w, r)
}

// revision is a configuration that a cluster was to have.
type revision struct {
	Revision                 int          `json:"revision"`
	ClusterTemplateVersionID *uuid.UUID   `json:"cluster_template_version_id"`
	Values                   store.Values `json:"values"` // without those that are secret
	IsDesired                bool         `json:"is_desired"`
	IsApplied                bool         `json:"is_applied"`
	CreatedBy                string       `json:"created_by"`
	CreatedAt                moment       `json:"created_at"`
}

func (a *api) listRevisions(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	cluster, rows, _, err := a.fleet.History(r.Context(), callerOf(r.Context()).actor, id, fleet.HistoryFilter{})
	if err != nil {
		return err
	}
	out := make([]revision, 0, len(rows))
	for _, row := range rows {
		out = append(out, revision{
			Revision: row.Revision, ClusterTemplateVersionID: row.TemplateVersionID, Values: row.Parameters,
			IsDesired: row.Revision == cluster.Revision, IsApplied: cluster.AppliedRevision != nil && row.Revision == *cluster.AppliedRevision,
			CreatedBy: row.CreatedBy, CreatedAt: moment(row.CreatedAt),
		})
	}
	send(w, http.StatusOK, out)
	return nil
}

// comparedSide is one of two configurations that are compared.
type comparedSide struct {
	Name     string `json:"name"`
	Revision int    `json:"revision"`
	renderedSections
}

type renderedSections struct {
	ClusterConfiguration                 string          `json:"cluster_configuration_rendered"`
	ProviderSpecificClusterConfiguration string          `json:"provider_specific_cluster_configuration_rendered"`
	Groups                               []renderedGroup `json:"cluster_kubernetes_resource_group_versions_rendered"`
}

func comparedOf(side fleet.Side) comparedSide {
	return comparedSide{side.Name, side.Revision, renderedSections{
		side.Shown.ClusterConfiguration, side.Shown.ProviderConfiguration, groupsOf(side.Shown.Groups),
	}}
}

func groupsOf(groups []store.RenderedGroup) []renderedGroup {
	out := make([]renderedGroup, 0, len(groups))
	for _, g := range groups {
		out = append(out, renderedGroup{Name: g.Name, Controlled: g.Controlled, Rendered: g.Manifests})
	}
	return out
}

// compare tells two configurations of a cluster side by side.
func (a *api) compare(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	if err := require(attribute{"from", query.Get("from") != ""}, attribute{"to", query.Get("to") != ""}); err != nil {
		return err
	}
	from, to, err := a.fleet.Sides(r.Context(), callerOf(r.Context()).actor, id, query.Get("from"), query.Get("to"))
	if err != nil {
		return err
	}
	send(w, http.StatusOK, map[string]comparedSide{"from": comparedOf(from), "to": comparedOf(to)})
	return nil
}

// rollback makes an earlier configuration the desired one again.
func (a *api) rollback(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var body struct {
		CurrentRevision *int `json:"current_revision"`
		Revision        *int `json:"revision"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{"current_revision", body.CurrentRevision != nil}, attribute{"revision", body.Revision != nil}); err != nil {
		return err
	}
	if _, _, err := a.fleet.Rollback(r.Context(), callerOf(r.Context()).actor, id, *body.CurrentRevision, *body.Revision); err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, id)
}
