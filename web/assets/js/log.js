// The log of a task: it follows its end until the reader scrolls away.
import { localise } from "./times.js";

const near = 24; // pixels from the end that still count as being there
const button = (log, name) => document.querySelector(`[data-${name}="${CSS.escape(log.id)}"]`);
const atEnd = (log) => log.scrollHeight - log.scrollTop - log.clientHeight < near;
const toEnd = (log) => { log.scrollTop = log.scrollHeight; };
const follows = (log) => button(log, "follow")?.getAttribute("aria-pressed") === "true";

function follow(log, on) {
  button(log, "follow")?.setAttribute("aria-pressed", String(on));
  if (on) toEnd(log);
}

// tools shows the buttons that have something to do.
function tools(log) {
  const lines = log.childElementCount > 0;
  for (const name of ["follow", "copy-log"]) button(log, name)?.toggleAttribute("hidden", !lines);
  button(log, "first-error")?.toggleAttribute("hidden", !log.querySelector("[data-error]"));
  button(log, "find-of")?.toggleAttribute("hidden", !lines);
  find(log, 0);
}

// find marks the lines that hold what is searched for, and goes to the next of them by a step.
function find(log, step) {
  const field = button(log, "find");
  const text = field?.value.trim().toLowerCase() ?? "";
  const hits = [...log.children].filter((line) => {
    const hit = text !== "" && line.lastElementChild.textContent.toLowerCase().includes(text);
    line.classList.toggle("hit", hit);
    return hit;
  });
  let at = hits.indexOf(log.querySelector(".at"));
  if (step && hits.length) {
    at = at < 0 ? (step > 0 ? 0 : hits.length - 1) : (at + step + hits.length) % hits.length;
    follow(log, false);
  }
  log.querySelector(".at")?.classList.remove("at");
  hits[at]?.classList.add("at");
  if (step) hits[at]?.scrollIntoView({ block: "center" });
  const told = field?.nextElementSibling;
  if (told) told.value = text ? `${at + 1} / ${hits.length}` : "";
}

function start(log) {
  if (log.dataset.started !== undefined) return;
  log.dataset.started = "";
  tools(log);
  if (follows(log)) toEnd(log);
  log.addEventListener("scroll", () => {
    const end = atEnd(log);
    if (end !== follows(log)) button(log, "follow")?.setAttribute("aria-pressed", String(end));
  }, { passive: true });
}

document.addEventListener("htmx:load", (event) => {
  for (const log of event.detail.elt.querySelectorAll?.("[data-log]") ?? []) start(log);
});

// Lines that are here already come again after a reconnect, and are dropped.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  if (!target.matches("[data-log]")) return;
  const last = Number(target.lastElementChild?.dataset.n ?? 0);
  for (const line of [...fragment.children]) {
    if (Number(line.dataset.n) <= last) line.remove();
  }
  localise(fragment);
  if (!fragment.childElementCount) {
    event.detail.shouldSwap = false;
    return;
  }
  const following = follows(target);
  queueMicrotask(() => {
    tools(target);
    if (following) toEnd(target);
  });
});

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-follow], [data-first-error]");
  if (!pressed) return;
  const log = document.getElementById(pressed.dataset.follow ?? pressed.dataset.firstError);
  if (!log) return;
  if (pressed.dataset.follow) {
    follow(log, !follows(log));
    return;
  }
  follow(log, false);
  for (const found of log.querySelectorAll(".found")) found.classList.remove("found");
  const line = log.querySelector("[data-error]");
  line?.classList.add("found");
  line?.scrollIntoView({ block: "center" });
});

document.addEventListener("input", (event) => {
  const log = document.getElementById(event.target.dataset?.find ?? "");
  if (!log) return;
  log.querySelector(".at")?.classList.remove("at");
  find(log, 1);
});

document.addEventListener("keydown", (event) => {
  const log = event.key === "Enter" && document.getElementById(event.target.dataset?.find ?? "");
  if (!log) return;
  event.preventDefault();
  find(log, event.shiftKey ? -1 : 1);
});
