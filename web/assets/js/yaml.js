// Texts in YAML get an editor of their own, which only pages with such a text load.
document.addEventListener("htmx:load", () => {
  const form = document.querySelector("[data-editor]");
  if (form?.dataset.editor) import(form.dataset.editor);
});
