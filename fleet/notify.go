package fleet

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"commander/internal/fault"
	"commander/store"
)

// What people can be told of.
const (
	EventTaskFailed     = "task_failed"
	EventTaskLost       = "task_lost"
	EventApprovalNeeded = "approval_needed"
	EventAgentSilent    = "agent_silent"
	// EventTest is sent by the button beside a channel, whatever it is for.
	EventTest = "test"
)

// Events are those that a channel can be for, in the order in which they are offered.
var Events = []string{EventTaskFailed, EventTaskLost, EventApprovalNeeded, EventAgentSilent}

// Kinds of channels.
const (
	ChannelWebhook = "webhook"
	ChannelMail    = "mail"
)

// silentLimit is how long an agent may be silent before people are told.
const silentLimit = 15 * time.Minute

// NotifyArgs deliver one notification.
type NotifyArgs struct {
	ID uuid.UUID `json:"id"`
}

// Kind names the job in River.
func (NotifyArgs) Kind() string { return "notification.deliver" }

// NotificationsQueue is where notifications are delivered: apart, so that receivers that do not answer
// hold up nothing else.
const NotificationsQueue = "notifications"

// NotifyAttempts is how often a delivery is tried: River's pauses, of n to the power of four seconds
// after the nth try, grow to a day in all.
const NotifyAttempts = 14

// Notice is the body of a notification: what a webhook is sent, and what a mail is made of.
type Notice struct {
	ID        uuid.UUID  `json:"id"`
	Event     string     `json:"event"`
	At        time.Time  `json:"at"`
	Workspace string     `json:"workspace"` // its slug
	ClusterID *uuid.UUID `json:"cluster_id,omitempty"`
	Cluster   string     `json:"cluster,omitempty"`
	TaskID    *uuid.UUID `json:"task_id,omitempty"`
	Task      string     `json:"task,omitempty"` // its kind
	URL       string     `json:"url"`            // where a person looks next
}

// NewChannel is a channel as a person wants it.
type NewChannel struct {
	Name, Kind, Address string
	Events              []string
}

// Check tells what is wrong with a channel, and takes the space around its texts away.
func (c *NewChannel) Check() error {
	c.Name, c.Address = strings.TrimSpace(c.Name), strings.TrimSpace(c.Address)
	problems := map[string]fault.Message{}
	if c.Name == "" || len(c.Name) > 100 {
		problems["name"] = fault.Message{Key: "notify.name"}
	}
	switch c.Kind {
	case ChannelWebhook:
		if u, err := url.Parse(c.Address); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			problems["address"] = fault.Message{Key: "notify.url"}
		}
	case ChannelMail:
		if parsed, err := mail.ParseAddress(c.Address); err != nil || parsed.Address != c.Address {
			problems["address"] = fault.Message{Key: "notify.mail"}
		}
	default:
		problems["kind"] = fault.Message{Key: "notify.kind"}
	}
	if len(c.Events) == 0 || slices.ContainsFunc(c.Events, func(e string) bool { return !slices.Contains(Events, e) }) {
		problems["events"] = fault.Message{Key: "notify.events"}
	}
	if len(problems) > 0 {
		return fault.Fields(problems)
	}
	return nil
}

// ShownAddress is what people are shown of a channel's address. Receivers know senders by a secret in
// the path or query of a webhook, so only its host is shown.
func ShownAddress(c store.NotificationChannel) string {
	u, err := url.Parse(c.Address)
	if c.Kind != ChannelWebhook || err != nil {
		return c.Address
	}
	shown := u.Scheme + "://" + u.Host
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		shown += "/…"
	}
	return shown
}

// Channels lists who is told of what happens in a workspace, each with what was told last.
func (f *Fleet) Channels(ctx context.Context, actor Actor, workspaceID uuid.UUID) ([]store.NotificationChannelsRow, error) {
	if err := Allowed(actor, WorkspacesView, workspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.NotificationChannels(ctx, workspaceID)
	return rows, store.AsFault(err)
}

// AddChannel makes a channel and returns the secret that a webhook is signed with: it is told once.
func (f *Fleet) AddChannel(ctx context.Context, actor Actor, workspaceID uuid.UUID, wanted NewChannel) (store.NotificationChannel, string, error) {
	var channel store.NotificationChannel
	if err := Allowed(actor, WorkspacesEdit, workspaceID); err != nil {
		return channel, "", err
	}
	if err := wanted.Check(); err != nil {
		return channel, "", err
	}
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		return channel, "", fmt.Errorf("make a secret: %w", err)
	}
	secret := base64.RawURLEncoding.EncodeToString(raw)
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		row := store.InsertNotificationChannelParams{
			ID: uuid.New(), WorkspaceID: workspaceID, Name: wanted.Name, Kind: wanted.Kind, Address: wanted.Address,
			Events: wanted.Events, CreatedBy: actor.Signature(),
		}
		row.Secret, row.SecretKey = tx.Keys.Seal("notification_channels", "secret", row.ID, []byte(secret))
		if channel, err = tx.InsertNotificationChannel(ctx, row); err != nil {
			return fmt.Errorf("write a channel: %w", err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "channel.create", ObjectType: "NotificationChannel", ObjectID: channel.ID, Workspace: workspace,
			Changes: map[string]any{"name": channel.Name, "kind": channel.Kind, "address": ShownAddress(channel), "events": channel.Events},
		})
	})
	if store.Unique(err, "notification_channels_workspace_id_name_key") {
		err = fault.Fields(map[string]fault.Message{"name": {Key: "notify.name_taken"}})
	}
	return channel, secret, store.AsFault(err)
}

// RemoveChannel deletes a channel with all that waits in it.
func (f *Fleet) RemoveChannel(ctx context.Context, actor Actor, workspaceID, id uuid.UUID) error {
	if err := Allowed(actor, WorkspacesEdit, workspaceID); err != nil {
		return err
	}
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		gone, err := tx.DeleteNotificationChannel(ctx, store.DeleteNotificationChannelParams{ID: id, WorkspaceID: workspaceID})
		if err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "channel.delete", ObjectType: "NotificationChannel", ObjectID: id, Workspace: workspace, Changes: map[string]any{"name": gone.Name},
		})
	})
	return store.AsFault(err)
}

// TestChannel sends a notification to one channel, to see that it arrives.
func (f *Fleet) TestChannel(ctx context.Context, actor Actor, workspaceID, id uuid.UUID) error {
	if err := Allowed(actor, WorkspacesEdit, workspaceID); err != nil {
		return err
	}
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		channel, err := tx.NotificationChannel(ctx, id)
		if err != nil {
			return err
		}
		if channel.WorkspaceID != workspaceID {
			return fault.New(fault.NotFound, "fault.not_found")
		}
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		return f.tell(ctx, tx, channel, Notice{Event: EventTest, Workspace: workspace.Slug, URL: f.PublicURL + "/workspaces/" + workspace.Slug + "/automation"})
	})
	return store.AsFault(err)
}

// notify tells all channels of a workspace that are for an event, in the transaction in which it
// happened: what is rolled back is not told.
func (f *Fleet) notify(ctx context.Context, tx *store.Tx, cluster store.Cluster, event string, task *store.Task) error {
	channels, err := tx.ChannelsForEvent(ctx, store.ChannelsForEventParams{WorkspaceID: cluster.WorkspaceID, Event: event})
	if err != nil || len(channels) == 0 {
		return err
	}
	workspace, err := tx.Workspace(ctx, cluster.WorkspaceID)
	if err != nil {
		return err
	}
	n := Notice{Event: event, Workspace: workspace.Slug, ClusterID: &cluster.ID, Cluster: cluster.Name, URL: f.PublicURL + "/clusters/" + cluster.ID.String()}
	if task != nil {
		n.TaskID, n.Task, n.URL = &task.ID, string(task.Kind), f.PublicURL+"/tasks/"+task.ID.String()
	}
	for _, channel := range channels {
		if err := f.tell(ctx, tx, channel, n); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fleet) tell(ctx context.Context, tx *store.Tx, channel store.NotificationChannel, n Notice) error {
	n.At = f.Clock.Now().UTC()
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encode a notification: %w", err)
	}
	row, err := tx.InsertNotification(ctx, store.InsertNotificationParams{ChannelID: channel.ID, Event: n.Event, Body: body})
	if err != nil {
		return fmt.Errorf("write a notification: %w", err)
	}
	_, err = f.Queue.InsertTx(ctx, tx.Tx, NotifyArgs{row.ID}, &river.InsertOpts{Queue: NotificationsQueue, MaxAttempts: NotifyAttempts})
	if err != nil {
		return fmt.Errorf("deliver notification %s: %w", row.ID, err)
	}
	return nil
}

// Telling is a notification that is to be delivered.
type Telling struct {
	Notice
	Channel store.NotificationChannel
	// Secret is what a webhook is signed with.
	Secret string
}

// Telling reads a notification; false when there is nothing to deliver any more.
func (f *Fleet) Telling(ctx context.Context, id uuid.UUID) (Telling, bool, error) {
	var t Telling
	row, err := f.Store.Notification(ctx, id)
	if notThere(err) || err == nil && row.Notification.DeliveredAt != nil {
		return t, false, nil
	}
	if err != nil {
		return t, false, store.AsFault(err)
	}
	if err := json.Unmarshal(row.Notification.Body, &t.Notice); err != nil {
		return t, false, fmt.Errorf("read notification %s: %w", id, err)
	}
	t.ID, t.Channel = id, row.NotificationChannel
	secret, err := f.Store.Keys.Unseal("notification_channels", "secret", t.Channel.ID, t.Channel.Secret, t.Channel.SecretKey)
	t.Secret = string(secret)
	return t, true, err
}

// Told notes how a delivery went; last says that it is not tried again.
func (f *Fleet) Told(ctx context.Context, id uuid.UUID, failure error, last bool) error {
	if failure == nil {
		return store.AsFault(f.Store.SetNotificationDelivered(ctx, id))
	}
	const most = 500
	text := strings.ToValidUTF8(failure.Error(), "\uFFFD")
	return store.AsFault(f.Store.SetNotificationFailed(ctx, store.SetNotificationFailedParams{ID: id, Error: text[:min(len(text), most)], GiveUp: last}))
}

// TellSilence tells of clusters whose agents have been silent for too long, each silence once, and
// reports how many.
func (f *Fleet) TellSilence(ctx context.Context) (int64, error) {
	const batch = 500
	if err := f.Store.ForgetSilence(ctx, silentLimit); err != nil {
		return 0, store.AsFault(err)
	}
	ids, err := f.Store.SilentClusters(ctx, store.SilentClustersParams{SilentLimit: silentLimit, Batch: batch})
	if err != nil {
		return 0, store.AsFault(err)
	}
	var told int64
	for _, id := range ids {
		err := f.Store.InTx(ctx, func(tx *store.Tx) error {
			cluster, err := tx.ClusterForUpdate(ctx, id)
			if err != nil {
				return err
			}
			n, err := tx.SetSilenceTold(ctx, store.SetSilenceToldParams{ID: id, SilenceTold: true})
			if err != nil || n == 0 {
				return err
			}
			told++
			return f.notify(ctx, tx, cluster, EventAgentSilent, nil)
		})
		if err != nil {
			return told, err
		}
	}
	return told, nil
}

// CleanNotifications forgets what was told before an age.
func (f *Fleet) CleanNotifications(ctx context.Context, age time.Duration) (int64, error) {
	const batch = 1000
	var total int64
	for {
		removed, err := f.Store.DeleteOldNotifications(ctx, store.DeleteOldNotificationsParams{OlderThan: age, Batch: batch})
		total += removed
		if err != nil || removed < batch {
			return total, store.AsFault(err)
		}
	}
}
