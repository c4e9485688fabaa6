package paths

import (
	"net/url"
	"strconv"
)

// Live is the WebSocket of a page that shows the topics. Since is what the page already shows:
// the last line of a task's log, or the moment (Unix milliseconds) a list was drawn; 0 says nothing.
func Live(since int64, topics ...string) string {
	values := url.Values{"topic": topics}
	if since > 0 {
		values.Set("since", strconv.FormatInt(since, 10))
	}
	return RouteLive + "?" + values.Encode()
}

// ParseLive reads what Live wrote.
func ParseLive(values url.Values) (since int64, topics []string) {
	since, err := strconv.ParseInt(values.Get("since"), 10, 64)
	if err != nil || since < 0 {
		since = 0
	}
	return since, values["topic"]
}

// TopicCluster is the live topic of one cluster.
func TopicCluster(id string) string { return "cluster:" + id }

// TopicTask is the live topic of one task: its state and its log.
func TopicTask(id string) string { return "task:" + id }

// TopicClusters is the live topic of a workspace's cluster list and counts, by the workspace's id.
func TopicClusters(workspace string) string { return "workspace:" + workspace + ":clusters" }

// TopicTasks is the live topic of a workspace's task list, by the workspace's id.
func TopicTasks(workspace string) string { return "workspace:" + workspace + ":tasks" }
