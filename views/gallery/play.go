package gallery

import (
	"github.com/a-h/templ"

	"commander/views/clusters"
	"commander/views/tasks"
	"commander/views/ui"
)

// Play is a course of live messages for the pages "task", "clusters" and "kubernetes": log lines, each chunk
// with the one before it again, and a cluster whose state changes, and a list of
// objects that is another one now.
func Play() []templ.Component {
	all := taskLog(60, true).Lines
	var messages []templ.Component
	for end := 5; end <= len(all); end += 5 {
		messages = append(messages, tasks.LogChunk(taskID, all[max(0, end-10):end]))
	}
	row := clusterRows()[1]
	messages = append(messages, clusters.LiveRow(row))
	row.Status, row.Configuration, row.Version = ui.ClusterStatus("in_sync"), ui.ConfigurationStatus("configured"), "1.37.2"
	messages = append(messages, clusters.LiveRow(row))
	messages = append(messages, clusters.LiveObjectsState(clusters.Kubernetes{Head: clusterHead(clusters.TabKubernetes), State: "2"}))
	return append(messages, tasks.Live(taskPage("succeeded", nil).State)...)
}
