// Menus: a popover opens by itself; what is left is to put it under its button.
const placed = new Set(["workspaces", "person"]); // these have their place in the style sheet
const gap = 4;

document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (event.newState !== "open" || !menu.matches?.("[data-menu]") || placed.has(menu.id)) return;
  const button = document.querySelector(`[popovertarget="${CSS.escape(menu.id)}"]`);
  if (!button) return;
  const at = button.getBoundingClientRect();
  const left = Math.min(at.right - menu.offsetWidth, innerWidth - menu.offsetWidth - gap);
  Object.assign(menu.style, {
    position: "fixed",
    inset: "auto",
    margin: "0",
    top: `${Math.min(at.bottom + gap, Math.max(gap, innerHeight - menu.offsetHeight - gap))}px`,
    left: `${Math.max(gap, left)}px`,
  });
}, true);

// A panel under a word closes when something else is meant.
const shut = (except) => {
  for (const drop of document.querySelectorAll("[data-drop][open]")) if (!drop.contains(except)) drop.open = false;
};
document.addEventListener("click", (event) => shut(event.target));
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.querySelector("[data-drop][open]");
  if (!open) return;
  open.querySelector("summary").focus();
  shut(null);
});

// Going somewhere closes what is open.
document.addEventListener("htmx:beforeRequest", () => {
  for (const menu of document.querySelectorAll("[data-menu]:popover-open")) menu.hidePopover();
});
