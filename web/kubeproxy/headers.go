package kubeproxy

import (
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"unicode"

	"commander/fleet"
)

// bearerProtocol begins a WebSocket subprotocol in which browsers hand a token to an API server.
const bearerProtocol = "base64url.bearer.authorization.k8s.io."

// rewrite makes the request for the cluster. httputil has taken the hop-by-hop headers off
// before, so that a Connection header of the caller cannot name the ones set here.
func rewrite(r *httputil.ProxyRequest) {
	c := r.In.Context().Value(callKey{}).(call)
	out := r.Out
	path, err := url.PathUnescape(c.raw)
	if err != nil {
		path = c.raw // cannot be: the server has parsed it
	}
	out.URL = &url.URL{Scheme: "http", Host: c.cluster.String(), Path: path, RawPath: c.raw, RawQuery: r.In.URL.RawQuery}
	out.Host = ""
	out.Trailer = nil
	strip(out.Header)
	out.Header.Set("Impersonate-User", userName(c.actor))
	out.Header.Set("Impersonate-Uid", c.actor.ID.String())
	out.Header.Set("Impersonate-Group", fleet.KubeGroup(c.role))
}

// strip drops whatever could say at the other end who calls.
func strip(header http.Header) {
	for name := range header {
		lower := strings.ToLower(name)
		switch {
		case lower == "authorization", lower == "proxy-authorization", lower == "cookie", lower == "x-auth-token",
			strings.HasPrefix(lower, "impersonate-"), strings.HasPrefix(lower, "x-remote-"):
			delete(header, name)
		}
	}
	const protocols = "Sec-Websocket-Protocol"
	offered := header.Values(protocols)
	header.Del(protocols)
	for _, line := range offered {
		var kept []string
		for protocol := range strings.SplitSeq(line, ",") {
			if protocol = strings.TrimSpace(protocol); !strings.HasPrefix(strings.ToLower(protocol), bearerProtocol) {
				kept = append(kept, protocol)
			}
		}
		if len(kept) > 0 {
			header.Add(protocols, strings.Join(kept, ", "))
		}
	}
}

// userName is the name in the cluster's audit. The prefix keeps it apart from the cluster's own
// users, and tokens apart from people, whatever either is called.
func userName(actor fleet.Actor) string {
	kind := "user"
	if actor.Type == fleet.ActorToken {
		kind = "token"
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1 // a header cannot carry it
		}
		return r
	}, actor.Name)
	return "commander:" + kind + ":" + name
}

// harmless keeps what a pod behind the API server's proxy answers from acting on the pages of
// Commander, which have the same origin.
func harmless(answer *http.Response) error {
	for _, name := range []string{"Set-Cookie", "Clear-Site-Data", "Alt-Svc", "Service-Worker-Allowed", "Strict-Transport-Security"} {
		answer.Header.Del(name)
	}
	answer.Header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	answer.Header.Set("X-Content-Type-Options", "nosniff")
	return nil
}

// status has the shape of a Kubernetes Status, whose message kubectl shows.
type status struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   struct{} `json:"metadata"`
	Status     string   `json:"status"`
	Message    string   `json:"message"`
	Reason     string   `json:"reason"`
	Code       int      `json:"code"`
}

// reasons are the words that client libraries look for (metav1.StatusReason).
var reasons = map[int]string{
	http.StatusUnauthorized:        "Unauthorized",
	http.StatusForbidden:           "Forbidden",
	http.StatusNotFound:            "NotFound",
	http.StatusInternalServerError: "InternalError",
	http.StatusBadGateway:          "InternalError",
	http.StatusServiceUnavailable:  "ServiceUnavailable",
}

func refuse(w http.ResponseWriter, code int, message string) {
	header := w.Header()
	switch code {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Bearer realm="commander"`)
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "5")
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	// Who has gone cannot be told.
	_ = json.NewEncoder(w).Encode(status{
		Kind: "Status", APIVersion: "v1", Status: "Failure", Message: message, Reason: reasons[code], Code: code,
	})
}
