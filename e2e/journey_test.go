package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestJourney is the main job by hand: from signing in to a cluster that is used, changed and gone.
func TestJourney(t *testing.T) {
	b := newBrowser(t, 8*time.Minute)
	b.signIn("admin@example.com", shared.admin)
	b.sees("Demo")
	b.picture("workspaces")
	b.press("Demo")
	b.until("the list of clusters is there", `location.pathname.endsWith("/clusters")`)
	b.picture("clusters-empty")

	b.press("Create cluster")
	b.until("templates are offered", visible("main h1", "Choose a template"))
	b.press("Lab")
	b.fill("[name=name]", "journey")
	b.fill("[name='values.workerCount']", "3")
	b.until("the YAML follows what is typed", `document.body.textContent.includes("replicas: 3")`)
	if typed := js[string](b, `document.querySelector("[name=name]").value`); typed != "journey" {
		t.Errorf("the preview lost what was typed: %q", typed)
	}
	b.picture("form")
	b.press("Install")

	b.until("the task's page is there", `location.pathname.startsWith("/tasks/")`)
	js[bool](b, "window.notReloaded = true")
	b.picture("task-running")
	b.ends("Succeeded")
	if !js[bool](b, "window.notReloaded === true") {
		t.Error("the task's page was loaded again: it must follow by itself")
	}
	b.picture("task-done")

	b.press("journey")
	b.until("the cluster's page is there", `location.pathname.startsWith("/clusters/")`)
	b.sees("Ready")
	b.sees("lab-worker-2")
	b.sees("1.37")
	b.sees("Configured")
	b.picture("cluster")
	cluster := b.location()

	b.press("Configuration")
	b.until("the form is there", `document.querySelector("[name='values.workerCount']")`)
	b.picture("configuration")
	b.do("go back", chromedp.NavigateBack())
	b.until("Back shows the whole overview", `document.querySelector("h1") && document.querySelector(".side") && document.body.innerText.includes("lab-worker-2")`)
	b.do("go forward", chromedp.NavigateForward())
	b.until("Forward shows the whole form", `document.querySelector(".side") && document.querySelector("[name='values.workerCount']")`)
	b.fill("[name='values.workerCount']", "4")
	b.press("Save and apply")
	b.until("a task runs", `location.pathname.startsWith("/tasks/")`)
	b.ends("Succeeded")
	b.open(shared.url + cluster)
	b.sees("lab-worker-3")

	b.open(shared.url + cluster + "/deletion")
	b.fill("[name=name]", "journey")
	b.picture("deletion")
	b.press("Delete cluster")
	b.until("a task runs", `location.pathname.startsWith("/tasks/")`)
	b.ends("Succeeded")
	b.open(shared.url + "/workspaces/demo/archive")
	b.sees("journey")
	b.picture("archive")

	id := strings.TrimPrefix(cluster, "/clusters/")
	await(t, "no process of the cluster is left", 30*time.Second, nothingOf(id))
	if said := b.complaints(); len(said) > 0 {
		t.Errorf("the browser complained: %q", said)
	}
}
