package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"commander/agents/node/api"
)

// watchPath streams the Secret of checksums, its present state first.
const watchPath = "/api/v1/namespaces/" + api.Namespace + "/secrets?watch=true&timeoutSeconds=600&fieldSelector=metadata.name%3D" + api.ChecksumsSecret

// Watch calls start whenever the group's checksum is another than the node's, until ctx ends. A
// node is so told of a change within a second; the timer sees what a watch that broke has missed.
func (r *Run) Watch(ctx context.Context, start func(context.Context) error) error {
	for ctx.Err() == nil {
		if _, err := r.self(ctx); err != nil {
			return err
		}
		if err := r.watchOnce(ctx, start); err != nil && ctx.Err() == nil {
			r.log.Warn("watch of checksums broke", "error", err)
			_ = r.pause(ctx) // ends early with ctx, which the loop sees
		}
	}
	return nil
}

func (r *Run) watchOnce(ctx context.Context, start func(context.Context) error) error {
	answer, err := r.kube.send(ctx, r.kube.servers[0], http.MethodGet, watchPath, "", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	stream := json.NewDecoder(answer.Body)
	for {
		var event struct {
			Type   string `json:"type"`
			Object files  `json:"object"`
		}
		if err := stream.Decode(&event); err != nil {
			return fmt.Errorf("read watch: %w", err)
		}
		wanted, err := base64.StdEncoding.DecodeString(event.Object.Data[r.Group])
		if err != nil || len(wanted) == 0 || event.Type == "ERROR" || string(wanted) == r.read(checksumFile) {
			continue
		}
		r.log.Info("the group has a new configuration", "checksum", string(wanted))
		if err := start(ctx); err != nil {
			return fmt.Errorf("start a run: %w", err)
		}
	}
}
