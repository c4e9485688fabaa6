package agentapi

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	contract "commander/agents/agentapi"
	"commander/fleet"
	"commander/store"
)

// longestWord bounds, in bytes, what is kept of a name or version in a report.
const longestWord = 512

func (a *API) report(w http.ResponseWriter, r *http.Request, c caller) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "want application/json", http.StatusUnsupportedMediaType)
		return
	}
	var told contract.Report
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, contract.MaxReportBytes)).Decode(&told)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, "the report is too large", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "the report is no JSON of the contract", http.StatusBadRequest)
		return
	}
	if err := a.Fleet.TakeReport(r.Context(), c.cluster.ID, convert(told)); err != nil {
		a.refuse(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func convert(told contract.Report) fleet.AgentReport {
	out := fleet.AgentReport{
		AgentVersion: word(told.AgentVersion), KubernetesVersion: word(told.KubernetesVersion), AppliedETag: word(told.AppliedETag),
		Nodes: make(store.AgentNodes, 0, len(told.Nodes)), Objects: make(store.AgentObjects, 0, len(told.Objects)),
	}
	if t := told.Totals; t != nil {
		out.CPUCores, out.MemoryGiB, out.RootDiskGiB, out.PVCGiB = t.CPUCores, t.MemoryGiB, t.RootDiskGiB, t.PVCGiB
	}
	for _, n := range told.Nodes {
		out.Nodes = append(out.Nodes, store.AgentNode{
			Name: word(n.Name), Group: word(n.NodeGroup), Ready: n.Ready, Version: word(n.Version),
			CPUCores: n.CPUCores, MemoryGiB: n.MemoryGiB, CreatedAt: n.CreatedAt,
		})
	}
	for _, o := range told.Objects {
		out.Failed = out.Failed || o.State == contract.ObjectFailed
		out.Objects = append(out.Objects, store.AgentObject{
			ResourceGroup: word(o.ResourceGroup), Group: word(o.Group), Version: word(o.Version), Kind: word(o.Kind),
			Namespace: word(o.Namespace), Name: word(o.Name), State: word(string(o.State)),
			// Not cut here: half a secret would not be recognised any more. The rules redact, then cut.
			Error: strings.ReplaceAll(o.Error, "\x00", ""),
		})
	}
	return out
}

func word(s string) string { return text(s, longestWord) }

// text cuts a text and leaves out zeros, which PostgreSQL cannot store.
func text(s string, longest int) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) <= longest {
		return s
	}
	end := longest
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
