package commander

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// place is where the objects of a kind are found.
type place struct {
	schema.GroupVersionResource
	namespaced bool
}

// errUnknownKind says that the API server does not serve a kind (yet).
var errUnknownKind = errors.New("the API server does not know this kind")

// aggregated asks for all resources of all groups in one answer.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

type discovered struct {
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Versions []struct {
			Version   string `json:"version"`
			Resources []struct {
				Resource     string   `json:"resource"`
				Scope        string   `json:"scope"`
				Verbs        []string `json:"verbs"`
				ResponseKind struct {
					Kind string `json:"kind"`
				} `json:"responseKind"`
			} `json:"resources"`
		} `json:"versions"`
	} `json:"items"`
}

// find tells where objects of a kind are, as of the last learn; errUnknownKind if there is none.
func (k *kube) find(ctx context.Context, kind schema.GroupVersionKind) (place, error) {
	k.mu.Lock()
	empty := k.kinds == nil
	k.mu.Unlock()
	if empty {
		if err := k.learn(ctx); err != nil {
			return place{}, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.kinds[kind]
	if !ok {
		return place{}, errUnknownKind
	}
	return r, nil
}

// learn asks the API server for its kinds.
func (k *kube) learn(ctx context.Context) error {
	kinds := map[schema.GroupVersionKind]place{}
	for _, path := range []string{"/api", "/apis"} {
		var d discovered
		if err := k.read(ctx, path, aggregated, &d); err != nil {
			return fmt.Errorf("ask the API server for its kinds: %w", err)
		}
		for _, group := range d.Items {
			for _, version := range group.Versions {
				for _, r := range version.Resources {
					if !slices.Contains(r.Verbs, "get") || !slices.Contains(r.Verbs, "patch") {
						continue // cannot be applied, like TokenReview
					}
					gv := schema.GroupVersion{Group: group.Metadata.Name, Version: version.Version}
					kinds[gv.WithKind(r.ResponseKind.Kind)] = place{gv.WithResource(r.Resource), r.Scope == "Namespaced"}
				}
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kinds = kinds
	return nil
}

// forget makes the next find ask the API server again.
func (k *kube) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kinds = nil
}
