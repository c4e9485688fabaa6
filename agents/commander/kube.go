package commander

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

const (
	// callLimit bounds one call to the API server.
	callLimit = 30 * time.Second
	// readLimit bounds an answer that is held in memory, in bytes.
	readLimit = 64 << 20
)

// kube is access to the API server. It does without client-go's discovery and typed clients,
// because these bring every type of Kubernetes along, and tens of MiB of memory with them.
type kube struct {
	http     *http.Client
	base     *url.URL
	home     string // namespace of the agent's own objects
	dynamic  dynamic.Interface
	metadata metadata.Interface

	mu    sync.Mutex // protects kinds
	kinds map[schema.GroupVersionKind]place
}

func newKube(config *rest.Config, home string) (*kube, error) {
	config = rest.CopyConfig(config)
	// The agent is one polite client: a large configuration takes seconds, not the API server.
	config.QPS, config.Burst = 50, 100
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client: %w", err)
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("make dynamic client: %w", err)
	}
	heads, err := metadata.NewForConfigAndClient(metadata.ConfigFor(config), client)
	if err != nil {
		return nil, fmt.Errorf("make metadata client: %w", err)
	}
	return &kube{http: client, base: base, home: home, dynamic: objects, metadata: heads}, nil
}

func (k *kube) close() { utilnet.CloseIdleConnectionsFor(k.http.Transport) }

// read gets a path and decodes the parts of the answer that out has fields for.
func (k *kube) read(ctx context.Context, path, accept string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(k.base.String(), "/")+path, nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", accept)
	resp, err := k.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return apierrors.NewGenericServerResponse(resp.StatusCode, "get", schema.GroupResource{}, path, string(text), 0, true)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, readLimit)).Decode(out); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// version asks for the version of the API server, such as v1.37.2.
func (k *kube) version(ctx context.Context) (string, error) {
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := k.read(ctx, "/version", "application/json", &v); err != nil {
		return "", fmt.Errorf("ask version of the API server: %w", err)
	}
	return v.GitVersion, nil
}
