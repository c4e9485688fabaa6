package api

import (
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
)

// channel is somebody who is told of what happens.
type channel struct {
	ID      uuid.UUID `json:"id"`
	Name    string    `json:"name"`
	Kind    string    `json:"kind"`
	Address string    `json:"address"`
	Events  []string  `json:"events"`
	// Last is what was told last; null before anything was.
	Last      *telling `json:"last"`
	CreatedBy string   `json:"created_by"`
	CreatedAt moment   `json:"created_at"`
}

type telling struct {
	Event       string  `json:"event"`
	At          moment  `json:"at"`
	DeliveredAt *moment `json:"delivered_at"`
	HasFailed   bool    `json:"has_failed"` // and is not tried again
	Failure     string  `json:"failure"`
}

func channelOf(c store.NotificationChannel) channel {
	return channel{ID: c.ID, Name: c.Name, Kind: c.Kind, Address: fleet.ShownAddress(c), Events: c.Events, CreatedBy: c.CreatedBy, CreatedAt: moment(c.CreatedAt)}
}

func (a *api) listChannels(w http.ResponseWriter, r *http.Request) error {
	c := callerOf(r.Context())
	rows, err := a.fleet.Channels(r.Context(), c.actor, c.workspace.ID)
	if err != nil {
		return err
	}
	out := make([]channel, 0, len(rows))
	for _, row := range rows {
		one := channelOf(row.NotificationChannel)
		if row.LastAt.Unix() > 0 {
			one.Last = &telling{row.LastEvent, moment(row.LastAt), optional(row.LastDeliveredAt), row.LastFailed, row.LastError}
		}
		out = append(out, one)
	}
	send(w, http.StatusOK, out)
	return nil
}

// createChannel answers with the secret that a webhook's messages are signed with, this once.
func (a *api) createChannel(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name    *string  `json:"name"`
		Kind    *string  `json:"kind"`
		Address *string  `json:"address"`
		Events  []string `json:"events"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(
		attribute{"name", body.Name != nil}, attribute{"kind", body.Kind != nil},
		attribute{"address", body.Address != nil}, attribute{"events", body.Events != nil},
	); err != nil {
		return err
	}
	c := callerOf(r.Context())
	made, secret, err := a.fleet.AddChannel(r.Context(), c.actor, c.workspace.ID, fleet.NewChannel{
		Name: *body.Name, Kind: *body.Kind, Address: *body.Address, Events: body.Events,
	})
	if err != nil {
		return err
	}
	out := struct {
		channel
		Secret *string `json:"secret"`
	}{channel: channelOf(made)}
	if made.Kind == fleet.ChannelWebhook {
		out.Secret = &secret
	}
	send(w, http.StatusCreated, out)
	return nil
}

// testChannel sends a message; how it went is told by the list.
func (a *api) testChannel(w http.ResponseWriter, r *http.Request) error {
	return a.without(w, r, a.fleet.TestChannel)
}

func (a *api) deleteChannel(w http.ResponseWriter, r *http.Request) error {
	return a.without(w, r, a.fleet.RemoveChannel)
}
