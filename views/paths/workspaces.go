package paths

// Routes of workspaces themselves, and of what people note about clusters.
const (
	RouteWorkspaces          = "/workspaces"
	RouteWorkspaceNew        = "/workspaces/new"
	RouteWorkspaceSettings   = "/workspaces/{slug}/settings"
	RouteWorkspaceDeletion   = "/workspaces/{slug}/deletion"
	RouteClusterViews        = "/workspaces/{slug}/views"
	RouteClusterViewDeletion = "/workspaces/{slug}/views/{id}/deletion"

	RouteClusterLabels = "/clusters/{id}/labels"
	RouteClusterLock   = "/clusters/{id}/lock"
)

// Workspaces creates a workspace (POST).
func Workspaces() string { return RouteWorkspaces }

// NewWorkspace is the form of a new workspace.
func NewWorkspace() string { return RouteWorkspaceNew }

// WorkspaceSettings is the form of a workspace's name; a POST to it saves it.
func WorkspaceSettings(slug string) string { return fill(RouteWorkspaceSettings, slug) }

// WorkspaceDeletion asks for the workspace's name and, on POST, deletes it with all that is in it.
func WorkspaceDeletion(slug string) string { return fill(RouteWorkspaceDeletion, slug) }

// ClusterViews saves what the list of clusters is asked for under a name (POST).
func ClusterViews(slug string) string { return fill(RouteClusterViews, slug) }

// ClusterViewDeletion forgets a saved view (POST).
func ClusterViewDeletion(slug, id string) string { return fill(RouteClusterViewDeletion, slug, id) }

// ClusterLabels replaces a cluster's labels (POST).
func ClusterLabels(id string) string { return fill(RouteClusterLabels, id) }

// ClusterLock protects a cluster from deletion, or lifts the protection (POST).
func ClusterLock(id string) string { return fill(RouteClusterLock, id) }
