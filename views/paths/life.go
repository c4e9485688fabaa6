package paths

import "net/url"

// Routes of the life of a cluster: how it is kept, what it was to be, and where it goes.
const (
	RouteClusterSettings   = "/clusters/{id}/settings"
	RouteClusterProtection = "/clusters/{id}/protection"
	RouteClusterHistory    = "/clusters/{id}/history"
	RouteClusterComparison = "/clusters/{id}/comparison"
	RouteClusterRollback   = "/clusters/{id}/rollback"
	RouteClusterAttach     = "/workspaces/{slug}/clusters/attach"
	RouteClusterJoining    = "/clusters/{id}/joining"
	RouteClusterDetachment = "/clusters/{id}/detachment"
	RouteClusterMove       = "/clusters/{id}/move"

	RouteTaskReview = "/tasks/{id}/review"
)

// ClusterSettings is the form of how a cluster is kept as declared; a POST to it saves it.
func ClusterSettings(id string) string { return fill(RouteClusterSettings, id) }

// ClusterProtection protects a cluster from deletion, or lifts the protection (POST).
func ClusterProtection(id string) string { return fill(RouteClusterProtection, id) }

// ClusterHistory lists the configurations that a cluster was to have.
func ClusterHistory(id string) string { return fill(RouteClusterHistory, id) }

// ClusterComparison compares two configurations of a cluster: revisions by their number, or what
// is desired, applied or actual. Empty sides are left out.
func ClusterComparison(id, from, to string) string {
	path := fill(RouteClusterComparison, id)
	if from == "" && to == "" {
		return path
	}
	return path + "?" + url.Values{"from": {from}, "to": {to}}.Encode()
}

// ClusterRollback shows what returning to an earlier revision would change; a POST to it returns.
func ClusterRollback(id, to string) string { return with(fill(RouteClusterRollback, id), "to", to) }

// TaskReview is the page on which a person decides about a destructive change.
func TaskReview(id string) string { return fill(RouteTaskReview, id) }

// AttachCluster is the form that takes over a cluster that was not made here; a POST to it tests
// the connection and saves the cluster as ready to join.
func AttachCluster(slug string) string { return fill(RouteClusterAttach, slug) }

// ClusterJoining starts taking over a cluster that is ready to join (POST).
func ClusterJoining(id string) string { return fill(RouteClusterJoining, id) }

// ClusterDetachment asks before a cluster is released; a POST to it releases it.
func ClusterDetachment(id string) string { return fill(RouteClusterDetachment, id) }

// ClusterConfigurationFrom is the form that gives a cluster its first template.
func ClusterConfigurationFrom(id, template string) string {
	return with(ClusterConfiguration(id), "template", template)
}

// ClusterMove shows what would go along with a cluster to another workspace; a POST to it moves it.
func ClusterMove(id, to string) string { return with(fill(RouteClusterMove, id), "to", to) }
