package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// content is an expression for the editable part of the editor that stands before a textarea.
func content(area string) string {
	return fmt.Sprintf(`document.querySelector(%q).nextElementSibling.shadowRoot.querySelector(".cm-content")`, area)
}

// write types into the editor before a textarea, where its cursor stands.
func (b *browser) write(area, text string) {
	b.t.Helper()
	b.until("the editor is there", fmt.Sprintf(`document.querySelector(%q)?.nextElementSibling?.dataset.ready === ""`, area))
	js[bool](b, "("+content(area)+".focus(), true)")
	b.do("write", chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// TestATemplateAuthor writes a template, sees at once what it makes and what is wrong with it, and
// saves a second version.
func TestATemplateAuthor(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, 4*time.Minute)
	b.signIn("admin@example.com", shared.admin)
	b.press("Demo")
	b.until("the workspace is there", visible("h1", "Clusters")) // the list of workspaces has Templates, too
	b.press("Templates")
	b.press("Create template")
	b.fill("[name=name]", "Authored")
	b.write("#f-cluster_configuration", "# a note\n")
	b.until("the trial shows what is written", `document.querySelector("#preview").innerText.includes("# a note")`)
	if focused := js[bool](b, `document.activeElement === document.querySelector("#f-cluster_configuration").nextElementSibling`); !focused {
		t.Error("the trial took the focus away")
	}
	b.fill("[name='values.kubernetesVersion']", "1.36")
	b.until("the trial shows the value", `document.querySelector("#preview").innerText.includes("1.36")`)
	if kept := js[string](b, `document.activeElement.value`); kept != "1.36" {
		t.Errorf("the trial took what was typed: %q", kept)
	}
	b.picture("template-new")
	b.press("Create template")
	b.until("the template's page is there", visible("h1", "Authored"))
	b.sees("Version 1")

	b.press("Edit")
	b.write("#f-init_configuration", "kind: InitConfiguration\nx: {{ nope }}\n")
	b.until("the problem is at its line", `document.querySelector("#f-init_configuration-problems [data-line='2']")`)
	b.until("and in the editor", `document.querySelector("#f-init_configuration").nextElementSibling.shadowRoot.querySelector(".cm-lint-marker-error")`)
	b.press("Save version")
	b.sees("One text needs attention.")
	b.until("what was written is kept", content("#f-init_configuration")+`?.innerText.includes("nope")`)
	b.picture("template-problem")
	b.press("Templates")
	b.until("the list is there", visible("h1", "Templates"))
	b.press("Authored")
	b.until("the template's page is there again", visible("h1", "Authored"))
	b.press("Edit")
	b.write("#f-init_configuration", "kind: InitConfiguration\n")
	b.fill("[name=version_comment]", "with a kind")
	b.press("Save version")
	b.sees("with a kind")
	b.press("Compare")
	b.until("both stand side by side", `document.querySelector(".sides [data-mark='+']")?.innerText.includes("InitConfiguration")`)
	b.picture("template-comparison")
	if said := b.complaints(); len(said) > 0 {
		t.Errorf("the browser complained: %q", said)
	}
}

// TestATemplateAuthorWithoutScripts does the same with plain texts.
func TestATemplateAuthorWithoutScripts(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, 4*time.Minute)
	b.do("run no scripts", chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.signIn("admin@example.com", shared.admin)
	b.press("Demo")
	b.until("the workspace is there", visible("h1", "Clusters")) // the list of workspaces has Templates, too
	b.press("Templates")
	b.press("Create template")
	b.fill("[name=name]", "Plain")
	b.fill("#f-init_configuration", "x: {{ nope }}")
	b.press("Add group")
	b.until("there is a group", `document.querySelector("[name='group.0.name']")`)
	b.fill("[name='group.0.name']", "base")
	b.fill("[name='group.0.template']", "kind: Namespace")
	b.press("Create template")
	b.sees("One text needs attention.")
	if kept := js[string](b, `document.querySelector("[name='group.0.template']").value`); kept != "kind: Namespace" {
		t.Errorf("the form lost what was typed: %q", kept)
	}
	b.fill("#f-init_configuration", "x: 1")
	b.do("try it", chromedp.Click("footer noscript button"))
	b.until("the trial shows it", `document.querySelector("#preview").textContent.includes("x: 1")`)
	b.picture("template-noscript")
	b.press("Create template")
	b.until("the template's page is there", visible("h1", "Plain"))
	b.press("Version 1")
	b.sees("base")
	if said := b.complaints(); len(said) > 0 {
		t.Errorf("the browser complained: %q", said)
	}
}
