package cloud

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

type answers func(*http.Request) *http.Response

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// What stands on the way to DVP may answer in its place. Whatever that says, nothing is known: not that
// an object is gone, not that there are none, not that a kind is not served.
func TestAnswersOfSomebodyElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code       int
		kind, body string
	}{
		"page of a proxy":       {http.StatusNotFound, "text/html", "<html>no such page</html>"},
		"words of a proxy":      {http.StatusNotFound, "text/plain", "404 page not found"},
		"nothing, not found":    {http.StatusNotFound, "", ""},
		"JSON of a gateway":     {http.StatusNotFound, "application/json", `{"message":"no Route matched"}`},
		"an empty object":       {http.StatusOK, "application/json", "{}"},
		"a page of maintenance": {http.StatusOK, "text/html", "<html>soon</html>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := &rest.Config{Host: "https://dvp.invalid", Transport: answers(func(r *http.Request) *http.Response {
				kind, body, code := c.kind, c.body, c.code
				// The client asks first what kinds there are, to know their addresses.
				switch r.URL.Path {
				case "/apis/virtualization.deckhouse.io/v1alpha2":
					code, kind, body = http.StatusOK, "application/json", `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"virtualization.deckhouse.io/v1alpha2","resources":[{"name":"virtualmachines","kind":"VirtualMachine","namespaced":true},{"name":"virtualmachineblockdeviceattachments","kind":"VirtualMachineBlockDeviceAttachment","namespaced":true}]}`
				case "/apis/virtualization.deckhouse.io":
					code, kind, body = http.StatusOK, "application/json", `{"kind":"APIGroup","apiVersion":"v1","name":"virtualization.deckhouse.io","versions":[{"groupVersion":"virtualization.deckhouse.io/v1alpha2","version":"v1alpha2"}]}`
				}
				return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r}
			})}
			dvp, err := New(config, "project", "uuid")
			if err != nil {
				t.Fatal(err)
			}
			for question, ask := range map[string]func(context.Context) error{
				"machine":         func(ctx context.Context) error { _, err := dvp.Machine(ctx, "a"); return err },
				"machine of node": func(ctx context.Context) error { _, err := dvp.MachineOfNode(ctx, "a"); return err },
				"machines":        func(ctx context.Context) error { _, err := dvp.Machines(ctx); return err },
				"attachments":     func(ctx context.Context) error { _, err := dvp.Attachments(ctx, OfDisk("a")); return err },
				"kinds":           func(ctx context.Context) error { _, err := dvp.ServesHealthchecks(ctx); return err },
			} {
				if err := ask(t.Context()); !Is(err, Unreachable) || err == nil || strings.Contains(err.Error(), "no matches for kind") {
					t.Errorf("%s: got %v, want that nothing is known", question, err)
				}
			}
		})
	}
}
