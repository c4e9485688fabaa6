// Where a bar of links is too narrow for all of them it scrolls sideways; the link of the page that
// is open is brought into its middle, so that people see where they are.
function show() {
  for (const link of document.querySelectorAll(":is(.side, .tabs) [aria-current]")) {
    const bar = link.closest(".side, .tabs");
    const [outer, inner] = [bar.getBoundingClientRect(), link.getBoundingClientRect()];
    bar.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  }
}

show();
document.addEventListener("htmx:afterSettle", ({ detail }) => detail.elt.id === "main" && show());
