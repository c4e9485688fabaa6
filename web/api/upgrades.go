package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	change "commander/fleet/upgrade"
	"commander/internal/fault"
	"commander/store"
)

// upgrade is what a version of a template would make of a cluster: what a person reads before
// anything is applied.
type upgrade struct {
	ClusterID                    uuid.UUID     `json:"cluster_id"`
	CurrentRevision              int           `json:"current_revision"`
	FromClusterTemplateVersionID *uuid.UUID    `json:"from_cluster_template_version_id"`
	ClusterTemplateVersionID     uuid.UUID     `json:"cluster_template_version_id"`
	IsReady                      bool          `json:"is_ready"`
	Open                         []string      `json:"open"`
	Items                        []upgradeItem `json:"items"`
	RenderErrors                 []renderError `json:"render_errors"`
	Before                       rendered      `json:"before"`
	After                        rendered      `json:"after"`
}

type rendered struct {
	renderedSections
	SSHConfiguration  string `json:"ssh_configuration_rendered"`
	InitConfiguration string `json:"init_configuration_rendered"`
}

func renderedOf(r store.Rendered) rendered {
	return rendered{renderedSections{r.ClusterConfiguration, r.ProviderConfiguration, groupsOf(r.Groups)}, r.SSHConfiguration, r.InitConfiguration}
}

// upgradeItem is what becomes of one parameter.
type upgradeItem struct {
	Key     string         `json:"key"`
	Title   string         `json:"title"`
	Outcome change.Outcome `json:"outcome"`
	Old     any            `json:"old"`
	New     any            `json:"new"`
	// WasSet tells that somebody set the old value; it stays when the version allows it.
	WasSet  bool    `json:"was_set"`
	Problem *string `json:"problem"`
}

func upgradeOf(ctx context.Context, u fleet.Upgrade) upgrade {
	out := upgrade{
		ClusterID: u.Cluster.ID, CurrentRevision: u.Cluster.Revision, FromClusterTemplateVersionID: u.Cluster.TemplateVersionID,
		ClusterTemplateVersionID: u.To.ID, IsReady: u.Ready(), Open: append([]string{}, u.Open...), Items: []upgradeItem{},
		RenderErrors: errorsOf(ctx, u.Errors), Before: renderedOf(u.Before), After: renderedOf(u.After),
	}
	for _, item := range u.Items {
		out.Items = append(out.Items, upgradeItem{item.Key, item.Title, item.Outcome, item.Old, item.New, item.Given, reasonOf(ctx, item.Problem)})
	}
	return out
}

func reasonOf(ctx context.Context, m *fault.Message) *string {
	if m == nil {
		return nil
	}
	text := said(ctx, *m)
	return &text
}

// wantedUpgrade is the body of a preview, and with a revision that of the move itself.
type wantedUpgrade struct {
	CurrentRevision          *int         `json:"current_revision"`
	ClusterTemplateVersionID *string      `json:"cluster_template_version_id"`
	Answers                  store.Values `json:"answers"`
}

// readUpgrade reads a body that must have some more attributes than the version.
func readUpgrade(w http.ResponseWriter, r *http.Request, more func(wantedUpgrade) []attribute) (wantedUpgrade, uuid.UUID, error) {
	var body wantedUpgrade
	if err := read(w, r, &body); err != nil {
		return body, uuid.Nil, err
	}
	if err := require(append(more(body), attribute{fleet.VersionField, body.ClusterTemplateVersionID != nil})...); err != nil {
		return body, uuid.Nil, err
	}
	version, err := versionIn(*body.ClusterTemplateVersionID)
	return body, version, err
}

// versionIn reads the id of a version in a body.
func versionIn(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return id, fault.Fields(map[string]fault.Message{fleet.VersionField: {Key: "template.version.unknown"}})
	}
	return id, nil
}

func (a *api) previewUpgrade(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	body, version, err := readUpgrade(w, r, func(wantedUpgrade) []attribute { return nil })
	if err != nil {
		return err
	}
	plan, err := a.fleet.PreviewUpgrade(r.Context(), callerOf(r.Context()).actor, id, version, body.Answers)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, upgradeOf(r.Context(), plan))
	return nil
}

func (a *api) upgradeCluster(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	body, version, err := readUpgrade(w, r, func(b wantedUpgrade) []attribute {
		return []attribute{{"current_revision", b.CurrentRevision != nil}}
	})
	if err != nil {
		return err
	}
	if _, _, err := a.fleet.UpgradeCluster(r.Context(), callerOf(r.Context()).actor, id, fleet.UpgradeChoice{
		Revision: *body.CurrentRevision, VersionID: version, Answers: body.Answers,
	}); err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, id)
}
