// Package paths spells every URL of the product, and is the only place that does. A route
// constant is what the router registers; the function beside it fills the same constant in.
package paths

import (
	"net/url"
	"strconv"
	"strings"
)

// Routes of the browser. The router and the functions below share these strings.
const (
	RouteStart    = "/"
	RouteSettings = "/settings"

	RouteSignIn       = "/sign-in"
	RouteAuthLogin    = "/auth/login"
	RouteAuthCallback = "/auth/callback"
	RouteAuthLogout   = "/auth/logout"

	RouteClusters      = "/workspaces/{slug}/clusters"
	RouteClusterNew    = "/workspaces/{slug}/clusters/new"
	RouteNewPreview    = "/workspaces/{slug}/clusters/preview"
	RouteArchive       = "/workspaces/{slug}/archive"
	RouteTasks         = "/workspaces/{slug}/tasks"
	RouteTokens        = "/workspaces/{slug}/tokens"
	RouteTokenDeletion = "/workspaces/{slug}/tokens/{id}/deletion"

	RouteCluster              = "/clusters/{id}"
	RouteClusterConfiguration = "/clusters/{id}/configuration"
	RouteClusterPreview       = "/clusters/{id}/configuration/preview"
	RouteClusterKubernetes    = "/clusters/{id}/kubernetes"
	RouteClusterNodes         = "/clusters/{id}/nodes"
	RouteClusterTasks         = "/clusters/{id}/tasks"
	RouteClusterDeletion      = "/clusters/{id}/deletion"
	RouteClusterKubeconfig    = "/clusters/{id}/kubeconfig"
	RouteClusterInstallation  = "/clusters/{id}/installation"
	RouteClusterConvergence   = "/clusters/{id}/convergence"
	RouteClusterArchive       = "/clusters/{id}/archive"

	RouteTask         = "/tasks/{id}"
	RouteTaskRetry    = "/tasks/{id}/retry"
	RouteTaskStop     = "/tasks/{id}/stop"
	RouteTaskLog      = "/tasks/{id}/log"
	RouteTaskTrouble  = "/tasks/{id}/log/first-error"
	RouteTaskSearch   = "/tasks/{id}/log/search"
	RouteTaskApproval = "/tasks/{id}/approval"
	RouteTaskGiveUp   = "/tasks/{id}/give-up"

	RouteLive   = "/live"
	RouteAssets = "/assets/*"
)

// Routes that other programs and the tools of people use.
const (
	// RouteAgent is the prefix of everything an agent calls; its cluster's id follows.
	RouteAgent = "/agent_api/{id}"
	// RouteAPI is the prefix of the REST API.
	RouteAPI = "/api/v1"
	// RouteKubernetes is the prefix a person's kubectl talks to; the API server's own path follows.
	RouteKubernetes = "/kubernetes/{id}"
)

// Start is the page a person lands on: the workspaces they may see.
func Start() string { return RouteStart }

// Settings is a person's language, theme and density.
func Settings() string { return RouteSettings }

// SignIn is the page that offers to sign in and then leads back to a local address.
func SignIn(back string) string { return with(RouteSignIn, "return", back) }

// Login starts the sign-in at the identity provider and leads back to a local address.
func Login(back string) string { return with(RouteAuthLogin, "return", back) }

// Callback is where the identity provider sends the browser back to.
func Callback() string { return RouteAuthCallback }

// Logout ends the session (POST).
func Logout() string { return RouteAuthLogout }

// Clusters lists a workspace's clusters; a POST to it creates one.
func Clusters(slug string) string { return fill(RouteClusters, slug) }

// ClusterList is the list as a query asks for it.
func ClusterList(slug string, q Query) string { return fill(RouteClusters, slug) + q.encode() }

// NewCluster offers the templates, or the form of one when its id is given.
func NewCluster(slug, template string) string {
	return with(fill(RouteClusterNew, slug), "template", template)
}

// NewClusterFrom is the form of one version of a template.
func NewClusterFrom(slug, template string, version int) string {
	return with(fill(RouteClusterNew, slug), "template", template) + "&" + url.Values{"version": {strconv.Itoa(version)}}.Encode()
}

// NewPreview renders the YAML of a form that is not saved yet (POST).
func NewPreview(slug string) string { return fill(RouteNewPreview, slug) }

// Archive lists the clusters that are no longer managed.
func Archive(slug string) string { return fill(RouteArchive, slug) }

// Tasks lists a workspace's tasks.
func Tasks(slug string) string { return fill(RouteTasks, slug) }

// TaskList is the task list as a query asks for it.
func TaskList(slug string, q Query) string { return fill(RouteTasks, slug) + q.encode() }

// Tokens lists a workspace's API tokens; a POST to it creates one.
func Tokens(slug string) string { return fill(RouteTokens, slug) }

// TokenDeletion revokes an API token (POST).
func TokenDeletion(slug, id string) string { return fill(RouteTokenDeletion, slug, id) }

// Cluster is a cluster's overview.
func Cluster(id string) string { return fill(RouteCluster, id) }

// ClusterConfiguration is the form of a cluster's parameters; a POST to it saves them.
func ClusterConfiguration(id string) string { return fill(RouteClusterConfiguration, id) }

// ClusterPreview renders the YAML of changed parameters that are not saved yet (POST).
func ClusterPreview(id string) string { return fill(RouteClusterPreview, id) }

// ClusterKubernetes lists what the agent applies and how that went.
func ClusterKubernetes(id string) string { return fill(RouteClusterKubernetes, id) }

// ClusterNodes lists the nodes of one cluster.
func ClusterNodes(id string) string { return fill(RouteClusterNodes, id) }

// ClusterTasks lists the tasks of one cluster.
func ClusterTasks(id string) string { return fill(RouteClusterTasks, id) }

// ClusterDeletion asks for the cluster's name and, on POST, deletes it with its machines.
func ClusterDeletion(id string) string { return fill(RouteClusterDeletion, id) }

// ClusterKubeconfig explains kubectl access and, on POST, answers with a fresh kubeconfig file.
func ClusterKubeconfig(id string) string { return fill(RouteClusterKubeconfig, id) }

// ClusterInstallation installs a cluster that was saved without installing (POST).
func ClusterInstallation(id string) string { return fill(RouteClusterInstallation, id) }

// ClusterConvergence starts bringing a cluster to its declared configuration (POST).
func ClusterConvergence(id string) string { return fill(RouteClusterConvergence, id) }

// ClusterArchive moves a cluster to the archive and cleans nothing up (POST).
func ClusterArchive(id string) string { return fill(RouteClusterArchive, id) }

// Task is a task's page.
func Task(id string) string { return fill(RouteTask, id) }

// TaskRetry queues a failed or lost task again (POST).
func TaskRetry(id string) string { return fill(RouteTaskRetry, id) }

// TaskStop asks a running task to stop at its next phase end, and cancels a queued one (POST).
func TaskStop(id string) string { return fill(RouteTaskStop, id) }

// TaskLog is a task's whole log as a text file.
func TaskLog(id string) string { return fill(RouteTaskLog, id) }

// TaskLine is a task's page with a line of its log and what stands around it.
func TaskLine(id string, line int) string { return Task(id) + "?line=" + strconv.Itoa(line) }

// TaskLines is a task's page with its log from a line on.
func TaskLines(id string, from int) string { return Task(id) + "?from=" + strconv.Itoa(from) }

// TaskTrouble leads to the first line of a task's log that tells of an error.
func TaskTrouble(id string) string { return fill(RouteTaskTrouble, id) }

// TaskSearch finds lines in a task's log.
func TaskSearch(id string) string { return fill(RouteTaskSearch, id) }

// TaskSearchOn goes on with a search from a line.
func TaskSearchOn(id, text string, from int) string {
	return TaskSearch(id) + "?" + url.Values{"q": {text}, "from": {strconv.Itoa(from)}}.Encode()
}

// TaskApproval approves the destructive change a task waits with (POST).
func TaskApproval(id string) string { return fill(RouteTaskApproval, id) }

// TaskGiveUp closes a lost task as failed (POST).
func TaskGiveUp(id string) string { return fill(RouteTaskGiveUp, id) }

// Asset is the address of an embedded file by its hashed name.
func Asset(name string) string { return strings.TrimSuffix(RouteAssets, "*") + name }

// Agent is the prefix of what the agent of a cluster calls.
func Agent(id string) string { return fill(RouteAgent, id) }

// Kubernetes is the server address of a cluster's kubeconfig, below the product's own address.
func Kubernetes(id string) string { return fill(RouteKubernetes, id) }

// fill puts values in place of a route's {names}, in their order.
func fill(route string, values ...string) string {
	for _, v := range values {
		open, end := strings.IndexByte(route, '{'), strings.IndexByte(route, '}')
		route = route[:open] + url.PathEscape(v) + route[end+1:]
	}
	return route
}

// with adds one query parameter, unless its value is empty.
func with(path, key, value string) string {
	if value == "" {
		return path
	}
	return path + "?" + url.Values{key: {value}}.Encode()
}
