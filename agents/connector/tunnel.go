package connector

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"commander/agents/agentapi"
	"commander/agents/tunnel"
)

// Health is the answer of GET /healthz.
type Health struct {
	Cluster string `json:"cluster"`
	// Connected says whether an agent holds the tunnel, Since when it came or went.
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since"`
	// Streams counts the connections that are carried now.
	Streams int `json:"streams"`
}

func (c *Connector) health(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	h := Health{Cluster: c.options.Cluster, Connected: c.session != nil, Since: c.since}
	session := c.session
	c.mu.Unlock()
	if session != nil {
		h.Streams = session.Streams()
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(h)
}

var upgrader = websocket.Upgrader{
	Subprotocols:     []string{agentapi.TunnelProtocol},
	HandshakeTimeout: 10 * time.Second,
	ReadBufferSize:   tunnel.BufferSize,
	WriteBufferSize:  tunnel.BufferSize,
}

// takeTunnel makes the agent that calls the one that serves the cluster, and stays until its
// session ends.
func (c *Connector) takeTunnel(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	closing := c.closing
	if !closing {
		c.owned.Add(1) // under the lock, so that Run does not begin to wait in between
	}
	c.mu.Unlock()
	if closing {
		http.Error(w, "connector is stopping", http.StatusServiceUnavailable)
		return
	}
	defer c.owned.Done()
	if !slices.Contains(websocket.Subprotocols(r), agentapi.TunnelProtocol) {
		http.Error(w, "want a WebSocket with subprotocol "+agentapi.TunnelProtocol, http.StatusBadRequest)
		return
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		c.options.Log.Warn("tunnel refused", "error", err.Error())
		return
	}
	session := tunnel.Server(ws, c.options.Tunnel)
	if !c.replace(session) {
		session.Close(websocket.CloseServiceRestart, "connector restarts")
		return
	}
	c.options.Log.Info("agent connected", "agent", r.UserAgent())
	<-session.Done()
	// The streams are ended already; this waits for the session's goroutines.
	session.Close(websocket.CloseNormalClosure, "")
	c.mu.Lock()
	if c.session == session {
		c.session, c.since = nil, time.Now()
	}
	c.mu.Unlock()
	c.options.Log.Info("agent gone", "reason", session.Err().Error())
}

// replace puts the newest session in the place of an older one. An agent that lost its connection
// comes back before this end has noticed, so the newest is the one that lives.
func (c *Connector) replace(session *tunnel.Session) bool {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return false
	}
	older := c.session
	c.session, c.since = session, time.Now()
	c.mu.Unlock()
	if older != nil {
		older.Close(agentapi.CloseReplaced, "a newer connection took over")
	}
	return true
}
