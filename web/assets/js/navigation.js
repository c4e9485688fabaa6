// Navigation: the next page starts at its title, and a failure never leaves a white page.
document.addEventListener("htmx:afterSettle", (event) => {
  const main = event.detail.elt;
  if (main?.id !== "main") return;
  const start = main.querySelector("[autofocus]") ?? main.querySelector("h1");
  start?.focus({ preventScroll: !start.hasAttribute("autofocus") });
});

function unreachable() {
  const text = document.getElementById("unreachable");
  const place = document.getElementById("problems");
  if (text && place) place.replaceChildren(text.content.cloneNode(true));
}

// An answer that is no page of ours, from a proxy perhaps, is not shown in place of one.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target } = event.detail;
  if (target?.id === "main" && xhr.status >= 400 && !xhr.responseText.includes('id="main"')) {
    event.detail.shouldSwap = false;
    unreachable();
  }
});
document.addEventListener("htmx:sendError", unreachable);
