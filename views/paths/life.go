package paths

import "net/url"

// Routes of the life of a cluster: how it is kept, what it was to be, and where it goes.
const (
	RouteClusterSettings   = "/clusters/{id}/settings"
	RouteClusterProtection = "/clusters/{id}/protection"
	RouteClusterHistory    = "/clusters/{id}/history"
	RouteClusterComparison = "/clusters/{id}/comparison"
	RouteClusterRollback   = "/clusters/{id}/rollback"

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
