package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestWithoutScripts does the main job in a browser that runs no scripts: only what is live is
// missing, and a person loads the page again instead.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, 4*time.Minute)
	b.do("run no scripts", chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.signIn("admin@example.com", shared.admin)
	b.press("Demo")
	b.press("Create cluster")
	b.until("templates are offered", visible("main h1", "Choose a template"))
	b.press("Lab")
	b.fill("[name=name]", "Not A Name")
	b.fill("[name='values.workerCount']", "1")
	b.press("Install")
	b.until("the form says what is wrong", `document.querySelector("[name=name][aria-invalid=true]")`)
	if kept := js[string](b, `document.querySelector("[name='values.workerCount']").value`); kept != "1" {
		t.Errorf("the form lost what was typed: %q", kept)
	}
	b.picture("noscript-form")
	b.fill("[name=name]", "scriptless")
	b.press("Install")
	b.until("the task's page is there", `location.pathname.startsWith("/tasks/")`)
	task := b.location()
	await(t, "the page, loaded again, says that the task succeeded", 2*time.Minute, func(context.Context) (bool, error) {
		b.open(shared.url + task)
		return js[bool](b, "Boolean("+visible("main .head .chip", "Succeeded")+")"), nil
	})
	b.open(shared.url + "/workspaces/demo/clusters?q=scriptless")
	b.press("scriptless")
	b.sees("Ready")
	b.press("Configuration")
	b.fill("[name='values.workerCount']", "2")
	b.press("Save and apply")
	b.until("a task runs", `location.pathname.startsWith("/tasks/")`)
	if said := b.complaints(); len(said) > 0 {
		t.Errorf("the browser complained: %q", said)
	}
}
