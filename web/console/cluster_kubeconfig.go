package console

import (
	"net/http"
	"strings"
	"time"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/web/kubeproxy"
)

// Kubeconfig explains how to reach a cluster with kubectl.
func (c *Console) Kubeconfig(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	k := clusters.Kubeconfig{
		Head: c.head(view, actor(r), clusters.TabNone), File: fileName(view.Name),
		Server:     c.Fleet.PublicURL + paths.Kubernetes(view.ID.String()),
		Kubernetes: wantedKubernetes(view.Wanted),
		Hours:      int(fleet.KubeTokenLifetime / time.Hour),
		Full:       actor(r).Role(view.WorkspaceID) == store.RoleFull,
	}
	if view.Report != nil && view.Report.KubernetesVersion != "" {
		k.Kubernetes = minor(kubernetesVersion(view.Report.KubernetesVersion))
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsHead, page{tab: i18n.M("kubeconfig.title"), content: clusters.KubeconfigBody(k)})
}

// fileName is what the kubeconfig of a cluster is called; names of clusters are safe in it.
func fileName(cluster string) string { return cluster + ".kubeconfig" }

// minor is a version without its patch, which a kubectl need not match.
func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// DownloadKubeconfig answers with a kubeconfig that holds a fresh token.
func (c *Console) DownloadKubeconfig(w http.ResponseWriter, r *http.Request) error {
	cluster, err := id(r)
	if err != nil {
		return err
	}
	token, err := c.Fleet.NewKubeToken(r.Context(), actor(r), cluster)
	if err != nil {
		return err
	}
	body, err := kubeproxy.Kubeconfig(c.Fleet.PublicURL, c.Fleet.CABundle, token)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/yaml")
	h.Set("Content-Disposition", `attachment; filename="`+fileName(token.Cluster.Name)+`"`)
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(body) // an error here is a browser that went away
	return nil
}
