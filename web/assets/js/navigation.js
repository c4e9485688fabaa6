// Navigation: the next page starts at its title, and a failure never leaves a white page.
import { isLate } from "./newest.js";

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

// A failure that is none of ours, from a proxy perhaps, is not shown in place of what is there:
// ours are whole pages, or say with HX-Reswap what to do with them.
const ours = ({ xhr, target }) =>
  target?.id === "main" ? xhr.responseText.includes('id="main"') : xhr.getResponseHeader("HX-Reswap") !== null;

document.addEventListener("htmx:beforeSwap", (event) => {
  const { status } = event.detail.xhr;
  if (status < 400 || status === 409 || status === 422 || ours(event.detail)) return;
  event.detail.shouldSwap = false;
  unreachable();
});
document.addEventListener("htmx:sendError", (event) => {
  if (!isLate(event.detail.xhr)) unreachable();
});

// What is done with an answer is settled when its request is sent. A live update may draw the link
// or the field anew meanwhile, and a removed element inherits nothing: htmx would put the whole next
// page into this one.
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const inherited = (name) => detail.elt.closest(`[${name}]`)?.getAttribute(name);
  const { etc, target } = detail;
  detail.select ??= inherited("hx-select");
  const oob = inherited("hx-select-oob");
  if (oob !== "unset") etc.selectOOB ??= oob;
  etc.swapOverride ??= inherited("hx-swap");
  if (inherited("hx-replace-url")) etc.replace ??= inherited("hx-replace-url");
  else etc.push ??= inherited("hx-push-url") ?? (detail.boosted ? "true" : undefined);
  target.addEventListener("htmx:beforeSwap", (event) => {
    if (!target.isConnected) event.detail.target = document.getElementById(target.id) ?? target;
  }, { once: true });
});
