// The command palette: Ctrl K or ⌘K opens it, arrows walk, Enter goes, Escape closes.
const palette = () => document.getElementById("palette");
const field = () => document.getElementById("palette-text");
const options = () => [...document.querySelectorAll("#palette-list [role=option]")];
const at = () => options().findIndex((o) => o.getAttribute("aria-selected") === "true");

function choose(index) {
  const all = options();
  for (const o of all) o.setAttribute("aria-selected", "false");
  const one = all[(index + all.length) % all.length];
  if (!one) {
    field()?.removeAttribute("aria-activedescendant");
    return;
  }
  one.setAttribute("aria-selected", "true");
  one.scrollIntoView({ block: "nearest" });
  field().setAttribute("aria-activedescendant", one.id);
}

function open() {
  if (!palette() || palette().open) return;
  // Navigation leaves the palette where it is: where the person is now stands in the sidebar.
  const here = document.querySelector("#side [data-workspace]")?.dataset.workspace;
  document.getElementById("palette-place").value = here ?? "";
  field().value = "";
  palette().showModal();
  field().dispatchEvent(new Event("offer"));
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.code === "KeyK") {
    event.preventDefault();
    open();
    return;
  }
  if (event.target !== field()) return;
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (steps[event.key]) choose(at() + steps[event.key]);
  else if (event.key === "Enter") options()[at()]?.click();
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-palette]")) {
    event.preventDefault();
    event.stopPropagation();
    open();
  } else if (event.target === palette() || event.target.closest?.("#palette-list a")) {
    palette().close();
  }
}, true);

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id === "palette-list") choose(0);
});
