package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// call asks the REST API and decodes the answer into into, unless it is nil.
func call(ctx context.Context, token, method, path string, body, into any) (int, error) {
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		sent = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, method, shared.url+"/api/v1"+path, sent)
	if err != nil {
		return 0, err
	}
	r.Header.Set("X-Auth-Token", token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := shared.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return answer.StatusCode, err
	}
	if raw, is := into.(*string); is {
		*raw = string(text)
		return answer.StatusCode, nil
	}
	if into != nil && answer.StatusCode < 300 {
		if err := json.Unmarshal(text, into); err != nil {
			return answer.StatusCode, fmt.Errorf("%w in %s", err, text)
		}
	}
	if answer.StatusCode >= 300 {
		return answer.StatusCode, fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	return answer.StatusCode, nil
}

// cluster is what the tests read of the API's clusters.
type cluster struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Status   string         `json:"status"`
	Revision int            `json:"current_revision"`
	Version  string         `json:"cluster_template_version_id"`
	Values   map[string]any `json:"values"`
	Sync     string         `json:"resources_sync_state"`
}

func labVersion(t *testing.T) string {
	t.Helper()
	var templates []struct {
		Name    string `json:"name"`
		Current string `json:"current_cluster_template_version_id"`
	}
	if _, err := call(t.Context(), shared.readToken, "GET", "/cluster_templates?without_archived=true", nil, &templates); err != nil {
		t.Fatal(err)
	}
	for _, template := range templates {
		if template.Name == "Lab" {
			return template.Current
		}
	}
	t.Fatalf("there is no template Lab in %+v", templates)
	return ""
}

func create(t *testing.T, name string, values map[string]any) cluster {
	t.Helper()
	if values == nil {
		values = map[string]any{}
	}
	var made cluster
	if _, err := call(t.Context(), shared.token, "POST", "/clusters", map[string]any{
		"name": name, "cluster_template_version_id": labVersion(t), "values": values,
	}, &made); err != nil {
		t.Fatal(err)
	}
	return made
}

func awaitStatus(t *testing.T, id, want string, bound time.Duration) cluster {
	t.Helper()
	var now cluster
	await(t, "cluster "+id+" is "+want, bound, func(ctx context.Context) (bool, error) {
		_, err := call(ctx, shared.readToken, "GET", "/clusters/"+id, nil, &now)
		if err == nil && now.Status != want {
			err = fmt.Errorf("it is %s", now.Status)
		}
		return err == nil, err
	})
	return now
}

// kubectl runs the real one with a cluster's kubeconfig.
type kubectl struct {
	t      *testing.T
	config string
}

func newKubectl(t *testing.T, id, token string) kubectl {
	t.Helper()
	var text string
	if _, err := call(t.Context(), token, "GET", "/clusters/"+id+"/kubeconfig", nil, &text); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubectl{t, path}
}

func (k kubectl) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(shared.dir, "bin", "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+k.config, "HOME="+filepath.Dir(k.config))
	return cmd
}

func (k kubectl) try(stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	cmd := k.command(ctx, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (k kubectl) must(stdin string, args ...string) string {
	k.t.Helper()
	out, err := k.try(stdin, args...)
	if err != nil {
		k.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example/web}]}
`

// TestKubectlThroughTheTunnel makes a cluster by the REST API with nothing but its name, and uses
// it with the real kubectl.
func TestKubectlThroughTheTunnel(t *testing.T) {
	t.Parallel()
	made := create(t, "by-api", nil)
	if made.Status != "new" {
		t.Errorf("got status %s, want new", made.Status)
	}
	awaitStatus(t, made.ID, "in_sync", 3*time.Minute)
	k := newKubectl(t, made.ID, shared.token)
	await(t, "kubectl lists the nodes", time.Minute, func(context.Context) (bool, error) {
		out, err := k.try("", "get", "nodes", "-o", "name")
		if err != nil {
			return false, fmt.Errorf("%w: %s", err, out)
		}
		return strings.Count(out, "node/lab-") == 3, fmt.Errorf("nodes: %s", out)
	})
	if body, err := os.ReadFile(k.config); err != nil || strings.Contains(string(body), "client-key") {
		t.Errorf("the kubeconfig holds a credential of the cluster (%v):\n%s", err, body)
	}
	k.must(deployment, "apply", "-f", "-")
	k.must("", "rollout", "status", "deployment/web", "--timeout=60s")
	pod := strings.Fields(k.must("", "get", "pods", "-l", "app=web", "-o", "name"))[0]
	if out := k.must("", "exec", pod, "--", "echo", "hello", "there"); !strings.Contains(out, "hello there") {
		t.Errorf("exec: got %q", out)
	}
	k.must("", "logs", pod)
	k.watches(func() { k.must("", "scale", "deployment/web", "--replicas=3") })
	k.must(deployment, "delete", "-f", "-")

	viewer := newKubectl(t, made.ID, shared.readToken)
	viewer.must("", "get", "pods,deployments", "-A")
	for _, forbidden := range [][]string{
		{"get", "secrets", "-A"}, {"delete", "namespace", "sample"}, {"create", "configmap", "x"},
	} {
		if out, err := viewer.try("", forbidden...); err == nil || !strings.Contains(out, "orbidden") {
			t.Errorf("a viewer may %v: %v\n%s", forbidden, err, out)
		}
	}
	if _, err := call(t.Context(), shared.token, "DELETE", "/clusters/"+made.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	awaitStatus(t, made.ID, "deleted", time.Minute)
	if out, err := k.try("", "get", "nodes"); err == nil {
		t.Errorf("the kubeconfig of a deleted cluster works: %s", out)
	}
	await(t, "nothing of the cluster is left", 30*time.Second, nothingOf(made.ID))
}

// watches sees that a watch brings an event while it is open.
func (k kubectl) watches(change func()) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	cmd := k.command(ctx, "get", "deployment", "web", "-w", "-o", "jsonpath={.spec.replicas}{'\\n'}")
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	buffer := make([]byte, 1024)
	var seen strings.Builder
	changed := false
	for !strings.Contains(seen.String(), "3") {
		n, err := out.Read(buffer)
		seen.Write(buffer[:n])
		if err != nil {
			k.t.Fatalf("watch: %v after %q", err, seen.String())
		}
		if !changed && strings.Contains(seen.String(), "2") {
			changed = true
			change()
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
