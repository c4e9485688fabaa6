package paths

// Routes of workspaces themselves, and of what people note about clusters.
const (
	RouteSearch              = "/search"
	RouteWorkspaces          = "/workspaces"
	RouteWorkspaceNew        = "/workspaces/new"
	RouteWorkspaceSettings   = "/workspaces/{slug}/settings"
	RouteWorkspaceDeletion   = "/workspaces/{slug}/deletion"
	RouteClusterViews        = "/workspaces/{slug}/views"
	RouteClusterView         = "/workspaces/{slug}/views/{id}"
	RouteClusterViewDeletion = "/workspaces/{slug}/views/{id}/deletion"

	RouteLabels        = "/workspaces/{slug}/labels"
	RouteClusterMarks  = "/workspaces/{slug}/clusters/marks"
	RouteClusterLabels = "/clusters/{id}/labels"
	RouteClusterGroups = "/clusters/{id}/groups"
)

// Search finds things and actions by a part of their names, for a person in a workspace or none.
func Search(slug string) string { return with(RouteSearch, "workspace", slug) }

// Workspaces creates a workspace (POST).
func Workspaces() string { return RouteWorkspaces }

// NewWorkspace is the form of a new workspace.
func NewWorkspace() string { return RouteWorkspaceNew }

// WorkspaceSettings is the form of a workspace's name; a POST to it saves it.
func WorkspaceSettings(slug string) string { return fill(RouteWorkspaceSettings, slug) }

// WorkspaceDeletion asks for the workspace's name and, on POST, deletes it with all that is in it.
func WorkspaceDeletion(slug string) string { return fill(RouteWorkspaceDeletion, slug) }

// ClusterViews are the saved views of the list of clusters; a POST saves another.
func ClusterViews(slug string) string { return fill(RouteClusterViews, slug) }

// ClusterView gives a saved view another name (POST).
func ClusterView(slug, id string) string { return fill(RouteClusterView, slug, id) }

// ClusterViewDeletion forgets a saved view (POST).
func ClusterViewDeletion(slug, id string) string { return fill(RouteClusterViewDeletion, slug, id) }

// Labels offers the labels of a workspace's clusters to a list as a query asks for it.
func Labels(slug string, q Query) string { return fill(RouteLabels, slug) + q.encode() }

// ClusterMarks notes the same about several clusters (POST).
func ClusterMarks(slug string) string { return fill(RouteClusterMarks, slug) }

// ClusterLabels replaces a cluster's labels (POST).
func ClusterLabels(id string) string { return fill(RouteClusterLabels, id) }

// ClusterGroups chooses how a Kubernetes group of a cluster is kept (POST).
func ClusterGroups(id string) string { return fill(RouteClusterGroups, id) }
