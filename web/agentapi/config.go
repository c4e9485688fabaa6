package agentapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	contract "commander/agents/agentapi"
	"commander/fleet"
	"commander/store"
)

// config answers with the wanted configuration as soon as it is another than the agent has.
func (a *API) config(w http.ResponseWriter, r *http.Request, c caller) {
	news, leave := a.wait(store.ClusterTopic(c.cluster.ID)) // before reading: no change is missed
	defer leave()
	over := a.after(patience(r))
	has := contract.UnquoteETag(r.Header.Get("If-None-Match"))
	read := -1 // the revision that was compared last
	for {
		if c.cluster.Revision != read {
			wanted, err := a.Fleet.AgentConfiguration(r.Context(), c.cluster.ID)
			if err != nil {
				a.refuse(w, r, err)
				return
			}
			if wanted.ETag != has {
				a.sendConfig(w, wanted)
				return
			}
			read = wanted.Revision
		}
		select {
		case <-news:
			// The token may be void by now, too.
			cluster, err := a.Fleet.AgentCluster(r.Context(), c.cluster.ID, c.secret)
			if err != nil {
				a.refuse(w, r, err)
				return
			}
			c.cluster = cluster
			continue
		case <-r.Context().Done():
			return
		case <-a.Stop:
		case <-over:
		}
		w.Header().Set("ETag", contract.QuoteETag(has))
		w.WriteHeader(http.StatusNotModified)
		return
	}
}

// patience is how long the agent is ready to wait.
func patience(r *http.Request) time.Duration {
	seconds, err := strconv.Atoi(r.URL.Query().Get(contract.WaitParameter))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, 3600))*time.Second, contract.MaxWait)
}

func (a *API) sendConfig(w http.ResponseWriter, wanted fleet.AgentConfiguration) {
	config := contract.Config{
		ETag: wanted.ETag, Revision: int64(wanted.Revision), ResourceGroups: make([]contract.ResourceGroup, 0, len(wanted.Groups)),
	}
	for _, g := range wanted.Groups {
		config.ResourceGroups = append(config.ResourceGroups, contract.ResourceGroup{Name: g.Name, Controlled: g.Controlled, Manifests: g.Manifests})
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("ETag", contract.QuoteETag(wanted.ETag))
	// An agent that has gone asks again.
	_ = json.NewEncoder(w).Encode(config)
}
