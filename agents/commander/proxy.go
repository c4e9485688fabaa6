package commander

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// proxy carries requests from the tunnel to the API server under the agent's own credentials.
type proxy struct {
	*httputil.ReverseProxy
	transport http.RoundTripper
}

// newProxy speaks HTTP/1.1 to the API server, because exec, attach and port-forward change the
// protocol of their connection, which HTTP/2 cannot.
func newProxy(config *rest.Config, log *slog.Logger) (*proxy, error) {
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("make transport: %w", err)
	}
	return &proxy{transport: transport, ReverseProxy: &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // a watch must not wait for more
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// The agent's own credentials count, and Commander says whom they impersonate.
			r.Out.Header.Del("Authorization")
			r.Out.Header.Del("Cookie")
			keepImpersonation(r)
		},
		ErrorHandler: answerError,
		ErrorLog:     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}, nil
}

// keepImpersonation puts back what a "Connection: Impersonate-User" would take away: without these
// headers the request would have all rights of the agent.
func keepImpersonation(r *httputil.ProxyRequest) {
	for name, values := range r.In.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			r.Out.Header[name] = values
		}
	}
}

func (p *proxy) close() { utilnet.CloseIdleConnectionsFor(p.transport) }

// answerError tells in Kubernetes' own words that the API server does not answer.
func answerError(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // nobody is there to read it
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure,
		Reason:   metav1.StatusReasonServiceUnavailable,
		Message:  "the API server of this cluster does not answer its agent: " + errorText(err),
		Code:     http.StatusServiceUnavailable,
	})
}
