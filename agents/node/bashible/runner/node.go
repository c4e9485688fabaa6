package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"commander/agents/node/api"
)

// object is the part of a Node that matters here.
type object struct {
	Metadata struct {
		ResourceVersion string            `json:"resourceVersion"`
		Labels          map[string]string `json:"labels"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Taints []struct {
			Key string `json:"key"`
		} `json:"taints"`
	} `json:"spec"`
}

func (o *object) annotated(key string) bool {
	_, is := o.Metadata.Annotations[key]
	return is
}

func (o *object) uninitialized() bool {
	for _, t := range o.Spec.Taints {
		if t.Key == api.TaintUninitialized {
			return true
		}
	}
	return false
}

const merge = "application/merge-patch+json"

func (r *Run) nodePath() string { return "/api/v1/nodes/" + r.node }

func (r *Run) getNode(ctx context.Context) (*object, error) {
	node := new(object)
	return node, r.kube.Get(ctx, r.nodePath(), node)
}

// change is the metadata of a Node to set; a nil value removes a key.
type change map[string]any

// annotate changes annotations. With a version it fails if the Node was changed since that was read.
func (r *Run) annotate(ctx context.Context, version string, annotations change) error {
	return r.patchNode(ctx, version, "annotations", annotations)
}

func (r *Run) patchNode(ctx context.Context, version, field string, values change) error {
	metadata := map[string]any{field: values}
	if version != "" {
		metadata["resourceVersion"] = version
	}
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return r.kube.Do(ctx, http.MethodPatch, r.nodePath(), merge, body, nil)
}
