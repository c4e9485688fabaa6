// The log of a task: it follows its end until the reader scrolls away, shows a part of a long log at
// a time, and goes to lines that the server has found in the whole of it.
import { localise } from "./times.js";

const near = 24; // pixels from the end that still count as being there
const most = 3000; // lines on the page of a log that is followed; the first ones go then
const kept = 2000;
const part = (log, name) => document.querySelector(`[data-${name}="${CSS.escape(log.id)}"]`);
const within = (log, name) => log.parentElement.querySelector(`[data-${name}]`);
const atEnd = (log) => log.scrollHeight - log.scrollTop - log.clientHeight < near;
const toEnd = (log) => { log.scrollTop = log.scrollHeight; };
const follows = (log) => part(log, "follow")?.getAttribute("aria-pressed") === "true";
const isPart = (log) => log.dataset.part !== undefined;
const firstOf = (log) => Number(log.firstElementChild?.dataset.n ?? 1);
const lastOf = (log) => Number(log.lastElementChild?.dataset.n ?? 0);

function follow(log, on) {
  part(log, "follow")?.setAttribute("aria-pressed", String(on));
  if (on) toEnd(log);
}

// tools shows the controls that have something to do.
function tools(log) {
  const lines = log.childElementCount > 0;
  for (const name of ["follow", "copy-log", "find-of"]) part(log, name)?.toggleAttribute("hidden", !lines);
  if (log.querySelector("[data-error]")) part(log, "first-error")?.removeAttribute("hidden");
  tint(log);
}

// tint marks the lines on the page that hold what is searched for.
function tint(log) {
  const text = part(log, "find")?.value.trim().toLowerCase() ?? "";
  for (const line of log.children) line.classList.toggle("hit", text !== "" && line.lastElementChild.textContent.toLowerCase().includes(text));
}

// before says how many lines stand before those on the page.
function before(log) {
  const lines = firstOf(log) - 1;
  const told = within(log, "earlier");
  if (!told) return;
  told.textContent = lines.toLocaleString(document.documentElement.lang, { useGrouping: "min2" });
  told.parentElement.hidden = lines === 0;
}

function show(log, line) {
  follow(log, false);
  for (const old of log.querySelectorAll(".at")) old.classList.remove("at");
  line.classList.add("at");
  line.scrollIntoView({ block: "center" });
}

function start(log) {
  if (log.dataset.started !== undefined) return;
  log.dataset.started = "";
  const asked = log.querySelector(".at");
  follow(log, !asked && !isPart(log));
  tools(log);
  if (asked) show(log, asked);
  log.addEventListener("scroll", () => {
    const end = atEnd(log) && !isPart(log);
    if (end !== follows(log)) part(log, "follow")?.setAttribute("aria-pressed", String(end));
  }, { passive: true });
}

document.addEventListener("htmx:load", (event) => {
  for (const log of event.detail.elt.parentElement?.querySelectorAll("[data-log]") ?? []) start(log);
});

// Lines that are here already come again after a reconnect, and are dropped. Where lines are missing
// in between, a log that is followed begins anew with what came, and one that is read stays as it is:
// a log never has a gap.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  if (!target.matches("[data-log]")) return;
  const last = lastOf(target);
  for (const line of [...fragment.children]) {
    if (Number(line.dataset.n) <= last) line.remove();
  }
  if (!fragment.childElementCount) {
    event.detail.shouldSwap = false;
    return;
  }
  const following = follows(target);
  if (isPart(target) || (firstOf(fragment) > last + 1 && last > 0 && !following)) {
    target.dataset.part = "";
    within(target, "log-end").parentElement.hidden = false;
    event.detail.shouldSwap = false;
    return;
  }
  if (firstOf(fragment) > last + 1) target.replaceChildren();
  localise(fragment);
  queueMicrotask(() => {
    if (following && target.childElementCount > most) {
      for (const line of [...target.children].slice(0, target.childElementCount - kept)) line.remove();
    }
    before(target);
    tools(target);
    if (following) toEnd(target);
  });
});

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-follow]");
  const log = document.getElementById(pressed?.dataset.follow ?? "");
  if (!log) return;
  if (isPart(log)) within(log, "log-end").click();
  else follow(log, !follows(log));
});

// here is the line that a link leads to, if the page has it.
function here(link, log) {
  if (link.dataset.line) return log.querySelector(`[data-n="${CSS.escape(link.dataset.line)}"]`);
  return firstOf(log) === 1 ? log.querySelector("[data-error]") : null;
}

// A line that is on the page is gone to at once; for others the server shows what stands around them.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-line], a[data-first-error]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  for (const old of document.querySelectorAll("a[data-line][aria-current]")) old.removeAttribute("aria-current");
  if (link.dataset.line) link.setAttribute("aria-current", "true");
  const log = document.getElementById(link.dataset.of ?? link.dataset.firstError);
  const line = log && here(link, log);
  if (!line) return;
  event.preventDefault();
  event.stopPropagation();
  show(log, line);
}, true);

document.addEventListener("input", (event) => {
  const log = document.getElementById(event.target.dataset?.find ?? "");
  if (log) tint(log);
});

// Enter in the search goes from one line that was found to the next.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.dataset?.find) return;
  const links = [...event.target.closest(".log-panel").querySelectorAll("a[data-line]")];
  if (!links.length) return;
  event.preventDefault();
  const at = links.findIndex((link) => link.hasAttribute("aria-current"));
  const step = event.shiftKey ? -1 : 1;
  const next = at < 0 ? (event.shiftKey ? links.length - 1 : 0) : (at + step + links.length) % links.length;
  links[next].click();
  links[next].scrollIntoView({ block: "nearest" });
});
