package api

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/web/kubeproxy"
)

// pageSize is how many clusters are read at once for the list, which has no pages outside.
const pageSize = 1_000

func (a *api) listClusters(w http.ResponseWriter, r *http.Request) error {
	c := callerOf(r.Context())
	out := []summary{}
	filter := filterOf(r)
	for {
		filter.Start = len(out)
		page, err := a.fleet.Clusters(r.Context(), c.actor, c.workspace.ID, filter)
		if err != nil {
			return err
		}
		for _, line := range page.Lines {
			out = append(out, a.summaryOf(line))
		}
		if len(page.Lines) < pageSize {
			break
		}
	}
	send(w, http.StatusOK, out)
	return nil
}

func (a *api) showCluster(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, id)
}

// answer sends a cluster as it is now.
func (a *api) answer(w http.ResponseWriter, r *http.Request, code int, id uuid.UUID) error {
	view, err := a.fleet.Cluster(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	send(w, code, a.clusterOf(r.Context(), view))
	return nil
}

// wanted is the body of a creation or change.
type wanted struct {
	Name                     *string      `json:"name"`
	ClusterTemplateVersionID *string      `json:"cluster_template_version_id"`
	CurrentRevision          *int         `json:"current_revision"`
	RegistryID               *string      `json:"registry_id"`
	RegistryMode             *string      `json:"registry_mode"`
	Values                   store.Values `json:"values"`
	// Labels are read when a cluster is made; later they are changed by themselves.
	Labels store.Labels `json:"labels"`
}

// check reads the id of the version, after the attributes that are there at all.
func (b wanted) check(more ...attribute) (version uuid.UUID, err error) {
	required := append([]attribute{{"name", b.Name != nil}, {fleet.VersionField, b.ClusterTemplateVersionID != nil}}, more...)
	if err := require(required...); err != nil {
		return version, err
	}
	return versionIn(*b.ClusterTemplateVersionID)
}

// createCluster saves a cluster and starts its installation. Errors in the configuration do not
// keep it from being saved: it is then in configuration_error, with the errors in the answer.
func (a *api) createCluster(w http.ResponseWriter, r *http.Request) error {
	var body wanted
	if err := read(w, r, &body); err != nil {
		return err
	}
	version, err := body.check()
	if err != nil {
		return err
	}
	choice, err := body.registryChoice()
	if err != nil {
		return err
	}
	if choice == nil {
		choice = &fleet.RegistryChoice{}
	}
	c := callerOf(r.Context())
	made, _, err := a.fleet.CreateCluster(r.Context(), c.actor, fleet.NewCluster{
		WorkspaceID: c.workspace.ID, Name: *body.Name, TemplateVersionID: version, Values: body.Values,
		RegistryID: choice.ID, RegistryMode: choice.Mode, Install: true, KeepErrors: true,
		Labels: body.Labels,
	})
	if err != nil {
		return err
	}
	w.Header().Set("Location", r.URL.Path+"/"+made.ID.String())
	return a.answer(w, r, http.StatusCreated, made.ID)
}

// changeCluster replaces what a cluster is to be. Masks among the values stand for what is saved.
func (a *api) changeCluster(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var body wanted
	if err := read(w, r, &body); err != nil {
		return err
	}
	version, err := body.check(attribute{"current_revision", body.CurrentRevision != nil}, attribute{"values", body.Values != nil})
	if err != nil {
		return err
	}
	choice, err := body.registryChoice()
	if err != nil {
		return err
	}
	_, _, err = a.fleet.ChangeCluster(r.Context(), callerOf(r.Context()).actor, id, fleet.ClusterChange{
		Revision: *body.CurrentRevision, Name: *body.Name, TemplateVersionID: version, Values: body.Values,
		Registry: choice, KeepErrors: true,
	})
	if err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, id)
}

func (a *api) deleteCluster(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if _, _, err := a.fleet.DeleteCluster(r.Context(), callerOf(r.Context()).actor, id); err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, id)
}

// kubeconfig makes a new token each time: it is told only once.
func (a *api) kubeconfig(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	token, err := a.fleet.NewKubeToken(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	body, err := kubeproxy.Kubeconfig(a.fleet.PublicURL, a.fleet.CABundle, token)
	if err != nil {
		return fmt.Errorf("answer with a kubeconfig: %w", err)
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(body)
	return nil
}
