package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	play "commander/agents/dhctl/dhctltest"
	"commander/fleet/fleettest"
	"commander/jobs"
	"commander/jobs/clustermanager"
	"commander/jobs/clustermanager/dhctl"
	"commander/store"
	"commander/views/paths"
	"commander/web/api"
)

// crew is a dhctl server with invented phases that notes how many changes run at once.
type crew struct {
	mu       sync.Mutex // guards all below
	names    map[string]string
	running  int
	most     int
	started  []string          // clusters in the order in which their changes began
	applied  map[string]string // the configuration of the last change that succeeded, by name
	failed   bool              // c04 has failed once
	holdsC03 chan struct{}
}

func (c *crew) script(start play.Start) []play.Step {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := c.names[start.UUID]
	steps := []play.Step{
		play.Log("about " + start.UUID), play.Progress(0.1, "WarmUp"),
		play.PhaseEnd(play.Ending{Completed: "WarmUp", Next: "Polish", State: map[string][]byte{"warm": []byte("yes")}}),
		play.Progress(0.6, "Polish"),
	}
	if start.Operation != "Converge" {
		return append(steps, play.Result(play.Outcome{State: `{"made":"eWVz"}`}))
	}
	c.started = append(c.started, name)
	c.running++
	c.most = max(c.most, c.running)
	over := func(ok bool) play.Step {
		return play.Do(func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.running--; ok {
				c.applied[name] = start.ClusterConfig
			}
		})
	}
	switch {
	case name == "c03" && !c.failed: // so that it is still at work when c04 fails
		steps = append(steps, play.Until(c.holdsC03))
	case name == "c04" && !c.failed:
		c.failed = true
		return append(steps, over(false), play.Result(play.Outcome{State: `{"made":"eWVz"}`, Err: "no machines left"}))
	}
	return append(steps, over(true), play.Result(play.Outcome{State: `{"made":"eWVz"}`, JSON: `{"status":"Converged"}`}))
}

// robot is a program of somebody's that uses the API.
type robot struct {
	*testing.T
	handler http.Handler
	token   string
}

type object = map[string]any

func (p *robot) ask(code int, method, path string, body any) any {
	p.Helper()
	text := []byte{}
	if body != nil {
		text, _ = json.Marshal(body)
	}
	r := httptest.NewRequestWithContext(p.Context(), method, paths.RouteAPI+path, bytes.NewReader(text))
	r.Header.Set(api.TokenHeader, p.token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	require.Equal(p, code, w.Code, "%s %s: %s", method, path, w.Body)
	var out any
	require.NoError(p, json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

func (p *robot) get(path string) object { p.Helper(); return p.ask(200, "GET", path, nil).(object) }

// await asks until an answer is as wanted.
func (p *robot) await(path string, wanted func(object) bool) object {
	p.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		answer := p.get(path)
		if wanted(answer) {
			return answer
		}
		select {
		case <-tick.C:
		case <-p.Context().Done():
			p.Fatalf("%s never came to what was awaited; it is %v", path, answer)
		}
	}
}

// lines are the clusters of a move by their names.
func lines(move object) map[string]object {
	out := map[string]object{}
	for _, line := range move["clusters"].([]any) {
		out[line.(object)["name"].(string)] = line.(object)
	}
	return out
}

func over(move object) bool { return move["finished_at"] != nil }

// workplace runs the workers of one process with a scripted dhctl server.
func workplace(t *testing.T) (*crew, *robot) {
	t.Helper()
	b := fleettest.New(t)
	c := &crew{names: map[string]string{}, applied: map[string]string{}, holdsC03: make(chan struct{})}
	dir, err := os.MkdirTemp("", "moves") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	play.Direct(t, filepath.Join(dir, "dhctl-play.sock"), c.script)
	quiet := slog.New(slog.DiscardHandler)
	manager := &clustermanager.Manager{
		Tasks: b.Fleet, Log: quiet, Worker: "test", PublicURL: "https://commander.test",
		Installer: &clustermanager.Dhctl{Servers: &dhctl.Servers{Dir: dir, Log: quiet}, Version: "play", BeatEvery: time.Second},
	}
	client, err := jobs.New(jobs.Deps{Pool: b.Store.Pool, Fleet: b.Fleet, Log: quiet, Clusters: manager, ClusterWorkers: 4, Housekeeping: true})
	require.NoError(t, err)
	require.NoError(t, client.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		require.NoError(t, client.Stop(ctx))
	})
	_, secret, err := b.CreateToken(t.Context(), b.Admin, b.Workspace.ID, "terraform", store.RoleFull, 0)
	require.NoError(t, err)
	return c, &robot{T: t, handler: api.New(b.Fleet, quiet), token: secret}
}

// TestTenClustersMoveInWaves goes the whole way: a template's new version, a move in waves that stops at
// its first failure, a retry, and a second move of the rest, over River, PostgreSQL and gRPC.
func TestTenClustersMoveInWaves(t *testing.T) {
	t.Parallel()
	c, p := workplace(t)
	const schema = "- {key: workers, type: number, title: Workers, default: %d}\n- {key: zone, type: string, title: Zone, default: %s}\n"
	const section = "kind: ClusterConfiguration\nworkers: {{ .workers }}\nzone: {{ .zone }}\n"
	template := p.ask(201, "POST", "/cluster_templates", object{
		"name": "team", "params_text": fmt.Sprintf(schema, 1, "a"), "cluster_configuration_template": section,
	}).(object)
	one := template["current_cluster_template_version_id"]
	ids := map[string]string{}
	for i := range 10 {
		name := fmt.Sprintf("c%02d", i)
		values := object{}
		if i == 3 || i == 8 {
			values["workers"] = 7 // somebody set it, so it stays
		}
		made := p.ask(201, "POST", "/clusters", object{"name": name, "cluster_template_version_id": one, "values": values}).(object)
		ids[name] = made["id"].(string)
		c.mu.Lock()
		c.names[ids[name]] = name
		c.mu.Unlock()
	}
	for _, id := range ids {
		p.await("/clusters/"+id, func(o object) bool { return o["status"] == "in_sync" })
	}
	template = p.ask(200, "PUT", "/cluster_templates/"+template["id"].(string), object{
		"current_revision": template["current_revision"], "params_text": fmt.Sprintf(schema, 2, "b"), "version_comment": "two workers in b",
	}).(object)
	two := template["current_cluster_template_version_id"].(string)

	plan := func() (targets []object, asked []string) {
		found := p.get("/cluster_switches/candidates?cluster_template_version_id=" + two)
		for _, row := range found["clusters"].([]any) {
			asked = append(asked, row.(object)["id"].(string))
			targets = append(targets, object{"id": row.(object)["id"], "current_revision": row.(object)["current_revision"]})
		}
		return targets, asked
	}
	targets, asked := plan()
	require.Len(t, targets, 10)
	for _, line := range p.ask(200, "POST", "/cluster_switches/preview", object{"cluster_template_version_id": two, "cluster_ids": asked}).([]any) {
		require.Nil(t, line.(object)["refusal"])
	}
	body := object{"cluster_template_version_id": two, "clusters": targets, "wave_size": 3, "parallel": 2, "stop_at_failure": true}
	move := "/cluster_switches/" + p.ask(201, "POST", "/cluster_switches", body).(object)["id"].(string)
	p.await(move, func(o object) bool { return lines(o)["c04"]["status"] == "failed" })
	close(c.holdsC03) // the change that ran is not cut off
	stopped := p.await(move, over)
	require.Equal(t, "stopped", stopped["status"])
	states := map[string]any{}
	for name, line := range lines(stopped) {
		states[name] = line["status"]
	}
	require.Equal(t, map[string]any{
		"c00": "done", "c01": "done", "c02": "done", "c03": "done", "c04": "failed",
		"c05": "skipped", "c06": "skipped", "c07": "skipped", "c08": "skipped", "c09": "skipped",
	}, states)
	require.Contains(t, lines(stopped)["c05"]["reason"], "c04", "it says whose failure stopped it")
	untouched := p.get("/clusters/" + ids["c09"])
	require.Equal(t, one, untouched["cluster_template_version_id"])
	require.EqualValues(t, 1, untouched["current_revision"])

	task := "/tasks/" + lines(stopped)["c04"]["task_id"].(string)
	require.Equal(t, "no machines left", p.get(task)["failure"])
	p.ask(200, "POST", task+"/retry", nil)
	p.await("/clusters/"+ids["c04"], func(o object) bool { return o["status"] == "in_sync" })

	targets, _ = plan()
	require.Len(t, targets, 5, "those that were skipped")
	body["clusters"] = targets
	finished := p.await("/cluster_switches/"+p.ask(201, "POST", "/cluster_switches", body).(object)["id"].(string), over)
	require.Equal(t, "finished", finished["status"])
	require.EqualValues(t, 5, finished["counts"].(object)["done"])

	c.mu.Lock()
	defer c.mu.Unlock()
	require.LessOrEqual(t, c.most, 2, "more changes ran at once than allowed")
	wave := map[string]int{"c00": 1, "c01": 1, "c02": 1, "c03": 2, "c04": 2, "c05": 3, "c06": 3, "c07": 3, "c08": 4, "c09": 4}
	for i := 1; i < len(c.started); i++ {
		require.LessOrEqual(t, wave[c.started[i-1]], wave[c.started[i]], "the order was %v", c.started)
	}
	require.Len(t, c.started, 11, "each once, and c04 again")
	for name, id := range ids {
		workers := "workers: 2"
		if name == "c03" || name == "c08" {
			workers = "workers: 7"
		}
		now := p.get("/clusters/" + id)
		require.Equal(t, two, now["cluster_template_version_id"], name)
		require.Equal(t, "in_sync", now["status"], name)
		require.True(t, strings.Contains(c.applied[name], workers) && strings.Contains(c.applied[name], "zone: b"), "%s was given %s", name, c.applied[name])
	}
}
