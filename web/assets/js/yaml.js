// Texts in YAML get an editor of their own, which only pages with such a text load. When it does not
// come, because the network or the release it belongs to is gone, the text stays in its plain field.
document.addEventListener("htmx:load", () => {
  const form = document.querySelector("[data-editor]");
  if (form?.dataset.editor) import(form.dataset.editor).catch((problem) => console.warn(problem));
});
