// The editor for YAML, loaded by pages that have something to edit. It stands before a textarea, which
// stays the control of the form, and inside a shadow root: there its styles are constructed by script,
// so that the policy of the pages needs no exception for them.
import { basicSetup } from "codemirror";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { yaml } from "@codemirror/lang-yaml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { tags } from "@lezer/highlight";

// rest is how many milliseconds without a key it takes until the form learns of what was typed: a long
// text is written out whole, and sent whole to be tried.
const rest = (length) => (length > 200_000 ? 1000 : 250);
const editors = new Map(); // a textarea to its editor

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)", borderRadius: "var(--r2)", fontSize: "12px", overflow: "clip" },
  "&.cm-focused": { outline: "var(--ring)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "18px", maxHeight: "min(60dvh, 520px)", minHeight: "84px" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--canvas)", color: "var(--ink-3)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in oklab, var(--hover) 70%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in oklab, var(--accent) 24%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in oklab, var(--warn) 28%, transparent)" },
  ".cm-searchMatch-selected": { backgroundColor: "color-mix(in oklab, var(--warn) 55%, transparent)" },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in oklab, var(--accent) 14%, transparent)" },
  ".cm-panels": { backgroundColor: "var(--canvas)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel input, .cm-panel button": { color: "var(--ink)", backgroundColor: "var(--surface)", backgroundImage: "none", border: "1px solid var(--line-strong)", borderRadius: "var(--r1)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "var(--r2)" },
  // The drawings that come with the editor are addresses of data, which the policy refuses.
  ".cm-lint-marker": { content: "normal !important", width: "8px", height: "8px", margin: "5px 2px", borderRadius: "50%" },
  ".cm-lint-marker-error": { backgroundColor: "var(--bad)" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--warn)" },
  ".cm-lintRange": { backgroundImage: "none !important" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--bad)" },
  ".cm-lintRange-warning": { textDecoration: "underline wavy var(--warn)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", color: "var(--ink-2)", border: "0" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--busy)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--ink-3)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.typeName, tags.labelName, tags.meta], color: "var(--warn)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

// learn gives the textarea what was typed, and tells the form unless it is about to be sent.
function learn(area, quiet) {
  const editor = editors.get(area);
  if (!editor?.dirty) return;
  clearTimeout(editor.timer);
  editor.dirty = false;
  area.value = editor.view.state.doc.toString();
  if (!quiet) area.dispatchEvent(new Event("input", { bubbles: true }));
}

function typed(area) {
  const editor = editors.get(area);
  editor.dirty = true;
  clearTimeout(editor.timer);
  editor.timer = setTimeout(() => learn(area), rest(editor.view.state.doc.length));
}

// marks are the problems that the page lists below a text, at their lines.
function marks(area) {
  const editor = editors.get(area);
  if (!editor) return;
  const { doc } = editor.view.state;
  const found = [...document.querySelectorAll(`[data-problems-of="${CSS.escape(area.id)}"] [data-line]`)];
  const diagnostics = found.filter((item) => Number(item.dataset.line) > 0).map((item) => {
    const line = doc.line(Math.min(Number(item.dataset.line), doc.lines));
    return { from: line.from, to: line.to, severity: item.dataset.tone === "warn" ? "warning" : "error", message: item.querySelector("span").textContent };
  });
  const bad = found.some((item) => item.dataset.tone !== "warn");
  if (bad) area.setAttribute("aria-invalid", "true");
  else area.removeAttribute("aria-invalid");
  editor.view.dispatch(setDiagnostics(editor.view.state, diagnostics));
}

function mount(area) {
  const host = document.createElement("div");
  host.className = "yaml-editor";
  area.after(host);
  const shadow = host.attachShadow({ mode: "open" });
  const label = document.querySelector(`label[for="${CSS.escape(area.id)}"]`);
  const view = new EditorView({
    parent: shadow,
    root: shadow,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        basicSetup, yaml(), lintGutter(), look, syntaxHighlighting(colours), indentUnit.of("  "),
        EditorView.contentAttributes.of({ "aria-label": label?.textContent ?? area.name, spellcheck: "false" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) typed(area); }),
      ],
    }),
  });
  area.hidden = true;
  editors.set(area, { view, dirty: false, timer: 0 });
  label?.addEventListener("click", () => view.focus());
  marks(area);
  host.dataset.ready = "";
}

function start() {
  for (const [area, { view, timer }] of editors) {
    if (area.isConnected) continue;
    clearTimeout(timer);
    view.destroy();
    editors.delete(area);
  }
  for (const area of document.querySelectorAll("textarea[data-yaml]")) {
    if (!editors.has(area)) mount(area);
  }
}

document.addEventListener("htmx:load", start);
document.addEventListener("submit", () => { for (const area of editors.keys()) learn(area, true); }, true);
document.addEventListener("htmx:oobAfterSwap", (event) => {
  const list = event.target.closest?.("[data-problems-of]");
  if (list) marks(document.getElementById(list.dataset.problemsOf));
});
// A problem leads to its line.
document.addEventListener("click", (event) => {
  const item = event.target.closest?.("[data-problems-of] [data-line]");
  const editor = item && editors.get(document.getElementById(item.parentElement.dataset.problemsOf));
  if (!editor || item.dataset.line === "0") return;
  const { doc } = editor.view.state;
  const { from } = doc.line(Math.min(Number(item.dataset.line), doc.lines));
  editor.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  editor.view.focus();
});
start();
