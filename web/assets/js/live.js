// Live updates: the chip that says whether they come, and care for what a swap would spoil.
import { localise } from "./times.js";

const patience = 30_000; // milliseconds without a socket before the page admits to be stale
let staleTimer;

function connection(state) {
  const chip = document.getElementById("connection");
  const stale = document.getElementById("stale");
  if (!chip || !stale) return;
  chip.hidden = state === "none";
  chip.dataset.tone = state === "on" ? "good" : "warn";
  chip.textContent = state === "on" ? chip.dataset.on : chip.dataset.off;
  if (state === "off") {
    staleTimer ??= setTimeout(() => { stale.hidden = false; }, patience);
    return;
  }
  clearTimeout(staleTimer);
  staleTimer = undefined;
  stale.hidden = true;
}

document.addEventListener("htmx:wsOpen", () => connection("on"));
document.addEventListener("htmx:wsClose", (event) => {
  // The session is over: loading the page again leads to the sign-in and back.
  if (event.detail?.event?.code === 1008) location.reload();
  connection("off");
});
document.addEventListener("htmx:afterSettle", () => {
  if (!document.getElementById("live")) connection("none");
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-reload]")) location.reload();
});

// signature is what an element says apart from times, which count on by themselves.
function signature(element) {
  const copy = element.cloneNode(true);
  for (const marked of [copy, ...copy.querySelectorAll(".changed")]) {
    marked.classList.remove("changed");
    if (!marked.classList.length) marked.removeAttribute("class");
  }
  for (const time of copy.querySelectorAll("time")) {
    time.textContent = "";
    time.removeAttribute("title");
    time.removeAttribute("data-local");
  }
  return copy.outerHTML;
}

// where tells how to find the focused element again in what replaces it.
function where(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const href = element.getAttribute("href");
  return href ? `a[href="${CSS.escape(href)}"]` : "";
}

// A message is one element, and the page may have no room for it: a row of another page of the list.
document.addEventListener("htmx:wsBeforeMessage", (event) => {
  const id = /^\s*<[^>]*?\sid="([^"]+)"/.exec(event.detail.message)?.[1];
  if (id && !document.getElementById(id)) event.preventDefault();
});

// mark shows that a row has changed, or is new in a table that came whole.
function mark(row) {
  const old = document.getElementById(row.id);
  if (old?.dataset.state === row.dataset.state) return;
  row.classList.add("changed");
  say(row);
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  if (target.matches("[data-log]")) return;
  const next = fragment.firstElementChild;
  if (!next || next.id !== target.id) return;
  if (signature(target) === signature(next)) {
    event.detail.shouldSwap = false;
    return;
  }
  for (const row of [next, ...next.querySelectorAll("tr")]) {
    if (row.id && row.dataset.state !== undefined) mark(row);
  }
  const focused = document.activeElement;
  event.detail.focus = focused && target.contains(focused) ? where(focused) : "";
});

document.addEventListener("htmx:oobAfterSwap", (event) => {
  localise(event.target);
  if (event.detail.focus) event.target.querySelector(event.detail.focus)?.focus({ preventScroll: true });
});

// What a list was drawn from has changed: the list asks for itself again. On a page that loads whole
// this event is the page's, not the mark's.
document.addEventListener("htmx:load", ({ target }) => {
  if (target.dataset?.fresh !== undefined) target.dispatchEvent(new CustomEvent("fresh"));
});

// say tells a screen reader what changed, in short.
function say(row) {
  const name = row.querySelector(".name")?.textContent.trim();
  const state = row.querySelector(".chip")?.textContent.trim();
  const said = document.getElementById("said");
  if (said && name && state) said.textContent = `${name}: ${state}`;
}
