package paths

// Routes of a workspace's automation.
const (
	RouteAutomation      = "/workspaces/{slug}/automation"
	RouteWindows         = "/workspaces/{slug}/windows"
	RouteWindowDeletion  = "/workspaces/{slug}/windows/{id}/deletion"
	RouteChannels        = "/workspaces/{slug}/channels"
	RouteChannelTest     = "/workspaces/{slug}/channels/{id}/test"
	RouteChannelDeletion = "/workspaces/{slug}/channels/{id}/deletion"
)

// Automation is the page of maintenance windows and notifications.
func Automation(slug string) string { return fill(RouteAutomation, slug) }

// AutomationOf is the same, ready to add a window for one cluster.
func AutomationOf(slug, cluster string) string { return with(Automation(slug), "cluster", cluster) }

// Windows takes a new maintenance window (POST).
func Windows(slug string) string { return fill(RouteWindows, slug) }

// WindowDeletion removes a maintenance window (POST).
func WindowDeletion(slug, id string) string { return fill(RouteWindowDeletion, slug, id) }

// Channels takes a new channel of notifications (POST).
func Channels(slug string) string { return fill(RouteChannels, slug) }

// ChannelTest sends a test through a channel (POST).
func ChannelTest(slug, id string) string { return fill(RouteChannelTest, slug, id) }

// ChannelDeletion removes a channel (POST).
func ChannelDeletion(slug, id string) string { return fill(RouteChannelDeletion, slug, id) }
