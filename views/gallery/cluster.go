package gallery

import (
	"fmt"
	"time"

	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/tasks"
	"commander/views/ui"
)

func facts() clusters.Facts {
	return clusters.Facts{
		Template: "Lab", TemplateVersion: 3, Kubernetes: "1.36.3", KubernetesWanted: "1.37.2", AgentVersion: "0.1.0",
		CreatedAt: ago(19 * time.Hour), CreatedBy: "ada@corp", CheckedAt: ago(4 * time.Minute), ReportedAt: ago(3 * time.Second), Revision: 7,
		PublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMCommanderSampleKeyOfThisGalleryOnly commander",
	}
}

func overview() clusters.Overview {
	o := clusters.Overview{
		Head: clusterHead(clusters.TabOverview), Facts: facts(),
		Totals: clusters.Totals{Known: true, CPU: 14.5, MemoryGiB: 28, RootDiskGiB: 140, PVCGiB: 12.25, Nodes: 4},
		Tasks:  taskRows()[1:4],
		Labels: clusters.Labels{Saved: labels("env=prod", "team=payments"), Typed: "env=prod\nteam=payments"},
	}
	for i := range o.Tasks {
		o.Tasks[i].Cluster = ""
	}
	states := []string{"ready", "ready", "updating", "approval_needed"}
	for i, s := range states {
		n := clusters.Node{Name: fmt.Sprintf("payments-prod-2-worker-%d", i-1), Group: "worker", Status: ui.NodeStatus(s), Version: "v1.36.3", CPU: 4, MemoryGiB: 8, CreatedAt: ago(19 * time.Hour)}
		if i == 0 {
			n.Name, n.Group, n.CPU, n.MemoryGiB = "payments-prod-2-master-0", "master", 2, 4
		}
		o.Nodes = append(o.Nodes, n)
	}
	return o
}

func cluster() []Exhibit {
	fresh := clusters.Overview{Head: clusterHead(clusters.TabOverview), Facts: facts()}
	fresh.Status, fresh.Configuration, fresh.Agent = ui.ClusterStatus("configuration_error"), ui.ConfigurationStatus("no_data"), ui.Agent{Tone: ui.Neutral}
	fresh.Facts.Kubernetes, fresh.Facts.AgentVersion, fresh.Facts.CheckedAt, fresh.Facts.ReportedAt = "", "", time.Time{}, time.Time{}
	fresh.Next = &clusters.Next{Tone: ui.Bad, Text: i18n.M("cluster.next.configuration_error"), Label: i18n.M("action.fix"), Href: paths.ClusterConfiguration(clusterID)}
	fresh.Labels = clusters.Labels{Typed: "env=<b>", Problem: i18n.M("cluster.label.invalid", "env=<b>")}
	fresh.RenderErrors = []clusters.RenderError{{Section: i18n.M("section.placement"), Text: i18n.Plain(`template: placement:7: map has no entry for key "workerCount"`)}}
	waiting := overview()
	waiting.Head = destructive()
	waiting.Locked = true
	waiting.Drift = &clusters.Drift{
		Desired: 9, Applied: 8, Status: ui.Status{Tone: ui.Warn, Word: i18n.M("drift.status_destructive")}, FoundAt: ago(40 * time.Second),
		Found: []i18n.Message{i18n.M("drift.node_abandoned", "payments-prod-2-worker-2", "worker"), i18n.M("drift.node_absent", "payments-prod-2-worker-1", "worker"), i18n.M("drift.configuration")},
	}
	reader := overview()
	reader.Can = clusters.Can{}

	objects := clusters.Kubernetes{Head: clusterHead(clusters.TabKubernetes), CheckedAt: ago(3 * time.Second), All: 4, Failed: 1, State: "1", Table: table(paths.ClusterKubernetes(clusterID), "", "objects.filter", 4, 4), Objects: []clusters.Object{
		{Group: "Monitoring", Kind: "Namespace", Name: "monitoring", Status: ui.ObjectStatus("applied")},
		{Group: "Monitoring", Kind: "ConfigMap", Namespace: "monitoring", Name: "dashboards", Status: ui.ObjectStatus("drifted")},
		{Group: "Access", Kind: "ClusterRoleBinding", Name: "payments-admins", Status: ui.ObjectStatus("failed"), Error: `ClusterRoleBinding.rbac.authorization.k8s.io "payments-admins" is invalid: roleRef: Invalid value: cannot change roleRef`},
		{Group: "Access", Kind: "Secret", Namespace: "monitoring", Name: "webhook", Status: ui.ObjectStatus("waiting")},
	}, Groups: []clusters.KeptGroup{
		{Name: "Monitoring", ByTemplate: true, CanChange: true}, {Name: "Access", Controlled: true, ByTemplate: true},
	}}
	archived := clusters.Archived{
		ID: clusterID, Name: "edge-perm", Slug: slug, Number: 17, ArchivedAt: ago(90 * time.Hour), ArchivedBy: "grace@corp", Facts: facts(),
		Left:     []string{"edge-perm-master-0", "edge-perm-worker-0"},
		Sections: []clusters.Section{{Title: i18n.M("section.kubernetes"), YAML: clusterYAML}, {Title: i18n.M("section.placement")}},
		Tasks:    taskRows()[3:5],
	}
	kubeconfig := clusters.Kubeconfig{Head: clusterHead(clusters.TabNone), File: "payments-prod-2.kubeconfig", Server: "https://localhost:8443" + paths.Kubernetes(clusterID), Kubernetes: "1.37.2", Hours: 8, Full: true}
	view := kubeconfig
	view.Full = false
	title := i18n.Plain("payments-prod-2")
	return []Exhibit{
		shelled("cluster", layout.SectionClusters, title, clusters.OverviewBody(overview())),
		shelled("cluster-new", layout.SectionClusters, title, clusters.OverviewBody(fresh)),
		shelled("cluster-destructive", layout.SectionClusters, title, clusters.OverviewBody(waiting)),
		shelled("cluster-reader", layout.SectionClusters, title, clusters.OverviewBody(reader)),
		shelled("kubernetes", layout.SectionClusters, title, clusters.KubernetesBody(objects)),
		shelled("kubernetes-empty", layout.SectionClusters, title, clusters.KubernetesBody(clusters.Kubernetes{Head: clusterHead(clusters.TabKubernetes)})),
		shelled("cluster-tasks", layout.SectionClusters, title, clusters.TasksBody(clusters.Tasks{Head: clusterHead(clusters.TabTasks), Any: true, Newest: taskID, Rows: overview().Tasks, Table: table(paths.ClusterTasks(clusterID), "-"+tasks.SortCreated, "tasks.filter_actor", 3, 3)})),
		shelled("cluster-tasks-empty", layout.SectionClusters, title, clusters.TasksBody(clusters.Tasks{Head: clusterHead(clusters.TabTasks)})),
		shelled("cluster-nodes", layout.SectionClusters, title, clusters.NodesBody(clusters.Nodes{Head: clusterHead(clusters.TabNone), Any: true, State: "1", Rows: overview().Nodes, Table: table(paths.ClusterNodes(clusterID), "", "nodes.filter", len(overview().Nodes), 500)})),
		shelled("kubeconfig", layout.SectionClusters, title, clusters.KubeconfigBody(kubeconfig)),
		shelled("kubeconfig-view", layout.SectionClusters, title, clusters.KubeconfigBody(view)),
		shelled("archived", layout.SectionArchive, i18n.Plain("edge-perm"), clusters.ArchivedBody(archived)),
	}
}
