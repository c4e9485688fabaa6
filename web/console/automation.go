package console

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/automation"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// automationTyped are the forms of the page as they were typed.
type automationTyped struct {
	zone, starts, hours, cluster string
	days                         []string
	name, kind, address          string
	events                       []string
	windowProblems, problems     map[string]fault.Message
	secret, secretName           string
}

func freshAutomation(cluster string) automationTyped {
	return automationTyped{
		zone: "UTC", starts: "22:00", hours: "4", cluster: cluster, days: []string{"1", "2", "4", "8", "16"},
		kind: fleet.ChannelWebhook, events: fleet.Events,
	}
}

// Automation shows when changes may start by themselves, and who is told.
func (c *Console) Automation(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.automation(w, r, http.StatusOK, workspace, freshAutomation(r.URL.Query().Get(automation.FieldCluster)))
}

func (c *Console) automation(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, t automationTyped) error {
	ctx := r.Context()
	windows, err := c.Fleet.Windows(ctx, actor(r), workspace.ID)
	if err != nil {
		return err
	}
	channels, err := c.Fleet.Channels(ctx, actor(r), workspace.ID)
	if err != nil {
		return err
	}
	known, err := c.windowClusters(r, workspace, t.cluster)
	if err != nil {
		return err
	}
	p := automation.Page{
		Slug: workspace.Slug, CanEdit: fleet.May(actor(r).Role(workspace.ID), fleet.WorkspacesEdit), Secret: t.secret, SecretName: t.secretName,
		WindowFields: windowFields(ctx, t, known), ChannelFields: channelFields(ctx, t),
		DaysProblem: i18n.Message(t.windowProblems["days"]), EventsProblem: i18n.Message(t.problems["events"]),
	}
	for bit := 1; bit <= 64; bit *= 2 {
		text := strconv.Itoa(bit)
		p.Days = append(p.Days, automation.Check{Name: automation.FieldDay, Value: text, Label: dayOf(bit), Checked: slices.Contains(t.days, text)})
	}
	for _, event := range fleet.Events {
		p.Events = append(p.Events, automation.Check{Name: automation.FieldEvent, Value: event, Label: i18n.M("event." + event), Checked: slices.Contains(t.events, event)})
	}
	names, all := map[uuid.UUID]string{}, []automation.Window(nil)
	for _, window := range windows {
		cluster := ""
		if id := window.ClusterID; id != nil {
			if names[*id] == "" {
				line, err := c.Fleet.ClusterLine(ctx, actor(r), *id)
				if err != nil {
					return err
				}
				names[*id] = line.Name
			}
			cluster = names[*id]
		}
		all = append(all, windowOf(window, cluster, c.Fleet.Clock.Now()))
	}
	query, total := paths.ParseQuery(r.URL.Query()), 0
	p.Windows, total = windowRows.find(c, query, all)
	p.AnyWindow, p.Table = len(all) > 0, c.table(query, paths.Automation(workspace.Slug), "", "window.filter", len(p.Windows), total)
	for _, row := range channels {
		p.Channels = append(p.Channels, channelOf(row))
	}
	return c.show(w, r, status, page{
		title: i18n.M("automation.title"), section: layout.SectionWorkspace, workspace: &workspace, content: automation.Body(p),
	})
}

var windowRows = handful[automation.Window]{
	text: func(w automation.Window) string { return w.Cluster + " " + w.Zone + " " + w.From },
	orders: map[string]func(a, b automation.Window) int{
		automation.SortStarts:  by(func(w automation.Window) string { return w.From }),
		automation.SortCluster: byName(func(w automation.Window) string { return w.Cluster }),
	},
}

func dayOf(bit int) i18n.Message { return i18n.M("day." + strconv.Itoa(bit)) }

func windowOf(w store.MaintenanceWindow, cluster string, now time.Time) automation.Window {
	out := automation.Window{
		ID: w.ID.String(), Cluster: cluster, From: fmt.Sprintf("%02d:%02d", w.Starts/60, w.Starts%60), Hours: float64(w.Minutes) / 60,
		Zone: w.TimeZone, Open: fleet.WindowOpen(w, now),
	}
	for bit := 1; bit <= 64; bit *= 2 {
		if w.Days&bit != 0 {
			out.Days = append(out.Days, dayOf(bit))
		}
	}
	return out
}

func channelOf(row store.NotificationChannelsRow) automation.Channel {
	c := row.NotificationChannel
	out := automation.Channel{
		ID: c.ID.String(), Name: c.Name, Address: fleet.ShownAddress(c), Kind: i18n.M("notify.kind." + c.Kind), Error: row.LastError,
		Last: ui.Status{Tone: ui.Busy, Word: i18n.M("notify.waiting")},
	}
	if row.LastAt.Unix() > 0 {
		out.LastAt = row.LastAt
	}
	switch {
	case row.LastDeliveredAt != nil:
		out.Last = ui.Status{Tone: ui.Good, Word: i18n.M("notify.delivered")}
	case row.LastFailed:
		out.Last = ui.Status{Tone: ui.Bad, Word: i18n.M("notify.failed")}
	}
	for _, event := range c.Events {
		out.Events = append(out.Events, i18n.M("event."+event))
	}
	return out
}

// mostOffered bounds the clusters that a window is offered for; a cluster's own settings lead to the
// page with it chosen.
const mostOffered = 500

// windowClusters is the choice of a cluster for a window. The chosen one is always in it.
func (c *Console) windowClusters(r *http.Request, workspace store.Workspace, chosen string) (ui.Field, error) {
	ctx := r.Context()
	field := ui.Field{
		Name: automation.FieldCluster, Kind: ui.Select, Span: 4, Title: i18n.T(ctx, "window.cluster_title"), Value: chosen,
		Placeholder: i18n.T(ctx, "window.cluster_all"),
	}
	list, err := c.Fleet.Clusters(ctx, actor(r), workspace.ID, fleet.ClusterFilter{Limit: mostOffered})
	if err != nil {
		return field, err
	}
	if list.Total > mostOffered {
		field.Hint = i18n.T(ctx, "window.cluster_hint", mostOffered, list.Total)
	}
	there := chosen == ""
	for _, line := range list.Lines {
		id := line.ID.String()
		there = there || id == chosen
		field.Options = append(field.Options, ui.Option{Value: id, Text: line.Name})
	}
	if id, err := uuid.Parse(chosen); err == nil && !there {
		line, err := c.Fleet.ClusterLine(ctx, actor(r), id)
		switch {
		case err == nil && line.WorkspaceID == workspace.ID && line.ArchivedAt == nil:
			field.Options = append(field.Options, ui.Option{Value: chosen, Text: line.Name})
		case err != nil && !fault.Is(err, fault.NotFound):
			return field, err
		}
	}
	return field, nil
}

func windowFields(ctx context.Context, t automationTyped, known ui.Field) []ui.Field {
	fields := []ui.Field{
		{Name: automation.FieldStarts, Kind: ui.Text, Span: 1, Title: i18n.T(ctx, "window.starts_title"), Value: t.starts, Placeholder: "22:00"},
		{Name: automation.FieldHours, Kind: ui.Number, Span: 1, Title: i18n.T(ctx, "window.hours_title"), Value: t.hours},
		{Name: automation.FieldZone, Kind: ui.Text, Span: 2, Title: i18n.T(ctx, "window.zone_title"), Value: t.zone, Placeholder: "Europe/Berlin"},
		known,
	}
	focusProblem(fields, t.windowProblems)
	return fields
}

func channelFields(ctx context.Context, t automationTyped) []ui.Field {
	fields := []ui.Field{
		{Name: automation.FieldName, Kind: ui.Text, Span: 2, Title: i18n.T(ctx, "notify.name_title"), Value: t.name},
		{Name: automation.FieldKind, Kind: ui.Select, Span: 2, Title: i18n.T(ctx, "notify.kind_title"), Value: t.kind, Options: []ui.Option{
			{Value: fleet.ChannelWebhook, Text: i18n.T(ctx, "notify.kind.webhook")}, {Value: fleet.ChannelMail, Text: i18n.T(ctx, "notify.kind.mail")},
		}},
		{Name: automation.FieldAddress, Kind: ui.Text, Span: 4, Title: i18n.T(ctx, "notify.address_title"), Hint: i18n.T(ctx, "notify.address_hint"), Value: t.address},
	}
	focusProblem(fields, t.problems)
	return fields
}

func automationIn(r *http.Request) (automationTyped, error) {
	if err := parseForm(r); err != nil {
		return automationTyped{}, err
	}
	f := r.PostForm
	t := freshAutomation("")
	if f.Has(automation.FieldZone) {
		t.zone, t.starts, t.hours, t.days = f.Get(automation.FieldZone), f.Get(automation.FieldStarts), f.Get(automation.FieldHours), f[automation.FieldDay]
		t.cluster = strings.TrimSpace(f.Get(automation.FieldCluster))
	}
	if f.Has(automation.FieldAddress) {
		t.name, t.kind, t.address, t.events = f.Get(automation.FieldName), f.Get(automation.FieldKind), f.Get(automation.FieldAddress), f[automation.FieldEvent]
	}
	return t, nil
}

// window reads what was typed; what cannot be read is out of its bounds, so that the rules say what is.
func (t automationTyped) window() (fleet.NewWindow, error) {
	w := fleet.NewWindow{TimeZone: strings.TrimSpace(t.zone), Starts: -1}
	for _, day := range t.days {
		bit, err := strconv.Atoi(day)
		if err != nil {
			return w, fault.Wrap(fault.Invalid, err, "fault.form")
		}
		w.Days |= bit
	}
	if at, err := time.Parse("15:04", strings.TrimSpace(t.starts)); err == nil {
		w.Starts = at.Hour()*60 + at.Minute()
	}
	if hours, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(t.hours), ",", "."), 64); err == nil && hours > 0 && hours <= 24 {
		w.Minutes = int(math.Round(hours * 60))
	}
	if t.cluster != "" {
		id, err := uuid.Parse(t.cluster)
		if err != nil {
			return w, fault.Fields(map[string]fault.Message{automation.FieldCluster: {Key: "window.cluster"}})
		}
		w.ClusterID = &id
	}
	return w, nil
}

// AddWindow makes a maintenance window.
func (c *Console) AddWindow(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	t, err := automationIn(r)
	if err != nil {
		return err
	}
	wanted, err := t.window()
	if err == nil {
		_, err = c.Fleet.AddWindow(r.Context(), actor(r), workspace.ID, wanted)
	}
	if refusal, is := refused(err); is && len(refusal.Fields) > 0 {
		t.windowProblems = refusal.Fields
		return c.automation(w, r, respond.Status(refusal), workspace, t)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Automation(workspace.Slug))
}

// RemoveWindow deletes a maintenance window.
func (c *Console) RemoveWindow(w http.ResponseWriter, r *http.Request) error {
	return c.ofAutomation(w, r, c.Fleet.RemoveWindow)
}

// AddChannel makes a channel and shows the secret of a webhook, this once.
func (c *Console) AddChannel(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	t, err := automationIn(r)
	if err != nil {
		return err
	}
	channel, secret, err := c.Fleet.AddChannel(r.Context(), actor(r), workspace.ID, fleet.NewChannel{Name: t.name, Kind: t.kind, Address: t.address, Events: t.events})
	if refusal, is := refused(err); is && len(refusal.Fields) > 0 {
		t.problems = refusal.Fields
		return c.automation(w, r, respond.Status(refusal), workspace, t)
	}
	if err != nil {
		return err
	}
	if channel.Kind != fleet.ChannelWebhook {
		return respond.SeeOther(w, r, paths.Automation(workspace.Slug))
	}
	fresh := freshAutomation("")
	fresh.secret, fresh.secretName = secret, channel.Name
	return c.automation(w, r, http.StatusOK, workspace, fresh)
}

// TestChannel sends a test through a channel.
func (c *Console) TestChannel(w http.ResponseWriter, r *http.Request) error {
	return c.ofAutomation(w, r, c.Fleet.TestChannel)
}

// RemoveChannel deletes a channel.
func (c *Console) RemoveChannel(w http.ResponseWriter, r *http.Request) error {
	return c.ofAutomation(w, r, c.Fleet.RemoveChannel)
}

// ofAutomation does something with what a request's id names in its workspace, and leads back.
func (c *Console) ofAutomation(w http.ResponseWriter, r *http.Request, do func(context.Context, fleet.Actor, uuid.UUID, uuid.UUID) error) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	subject, err := id(r)
	if err != nil {
		return err
	}
	if err := do(r.Context(), actor(r), workspace.ID, subject); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Automation(workspace.Slug))
}
