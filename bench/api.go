package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// cluster is what the measurements read of the API's clusters.
type cluster struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	AgentStatus string `json:"agent_status"`
}

// Words of the API.
const (
	ready     = "in_sync"
	deleted   = "deleted"
	connected = "connected"
)

// hopeless are statuses that no waiting leads out of.
var hopeless = map[string]bool{"configuration_error": true, "creation_failed": true, "deletion_failed": true, "synchronization_failure": true}

// call asks the REST API.
func (d *demo) call(ctx context.Context, method, path string, body, into any) (err error) {
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, d.url+"/api/v1"+path, sent)
	if err != nil {
		return err
	}
	request.Header.Set("X-Auth-Token", d.token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := d.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s %s", method, path, answer.Status, text)
	}
	return json.Unmarshal(text, into)
}

// template finds the current version of the preset template, whose defaults are a valid cluster.
func (d *demo) template(ctx context.Context) (string, error) {
	var templates []struct {
		Name    string `json:"name"`
		Current string `json:"current_cluster_template_version_id"`
	}
	if err := d.call(ctx, http.MethodGet, "/cluster_templates?without_archived=true", nil, &templates); err != nil {
		return "", err
	}
	for _, t := range templates {
		if t.Name == "Lab" {
			return t.Current, nil
		}
	}
	return "", fmt.Errorf("there is no template Lab among %d", len(templates))
}

// create asks for a cluster and returns its id.
func (d *demo) create(ctx context.Context, name, version string) (string, error) {
	var made cluster
	err := d.call(ctx, http.MethodPost, "/clusters", map[string]any{
		"name": name, "cluster_template_version_id": version, "values": map[string]any{},
	}, &made)
	return made.ID, err
}

// pollEvery is how fine times of clusters are measured; asking costs Commander about a millisecond.
const pollEvery = 50 * time.Millisecond

// await waits until a cluster is so. It gives up at once when the cluster has failed.
func (d *demo) await(ctx context.Context, id, what string, so func(cluster) bool) error {
	var failed error
	err := until(ctx, pollEvery, 5*time.Minute, func(ctx context.Context) error {
		var now cluster
		if err := d.call(ctx, http.MethodGet, "/clusters/"+id, nil, &now); err != nil {
			return err
		}
		if hopeless[now.Status] {
			failed = fmt.Errorf("cluster %s is %s", id, now.Status)
			return nil
		}
		if !so(now) {
			return fmt.Errorf("cluster %s is %s and its agent %s", id, now.Status, now.AgentStatus)
		}
		return nil
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("wait for a cluster that is %s: %w", what, err)
	}
	return nil
}

// awaitReady waits until a cluster is as its configuration says and its agent speaks.
func (d *demo) awaitReady(ctx context.Context, id string) error {
	return d.await(ctx, id, ready, func(c cluster) bool { return c.Status == ready && c.AgentStatus == connected })
}

// remove deletes a cluster and waits until nothing of it is left.
func (d *demo) remove(ctx context.Context, id string) error {
	var now cluster
	if err := d.call(ctx, http.MethodDelete, "/clusters/"+id, nil, &now); err != nil {
		return err
	}
	if err := d.await(ctx, id, deleted, func(c cluster) bool { return c.Status == deleted }); err != nil {
		return err
	}
	return until(ctx, pollEvery, time.Minute, func(context.Context) error {
		if left := processesWith(id); len(left) > 0 {
			return fmt.Errorf("processes of a deleted cluster run: %v", left)
		}
		return nil
	})
}
