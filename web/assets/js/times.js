// Times: moments in the reader's own time zone, and distances that count on.
const root = document.documentElement;

// The two clocks differ; the page says what time it was on the server when it was drawn.
const skew = root.dataset.now ? Date.parse(root.dataset.now) - Date.now() : 0;

const steps = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

// words says a number of seconds in its largest unit, or its largest two.
function words(seconds, two) {
  const at = Math.max(0, steps.findIndex(([, size]) => seconds >= size));
  const first = seconds < 1 ? steps.length - 1 : at;
  const [unit, size] = steps[first];
  const text = `${Math.floor(seconds / size)}\u00a0${label(unit)}`;
  const rest = steps[first + 1];
  if (!two || !rest) return text;
  const less = Math.floor((seconds % size) / rest[1]);
  return less ? `${text}\u00a0${less}\u00a0${label(rest[0])}` : text;
}

const label = (unit) => root.getAttribute(`data-unit-${unit}`) ?? unit;

function tick() {
  const now = Date.now() + skew;
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const seconds = Math.max(0, Math.floor((now - Date.parse(time.dateTime)) / 1000));
    const kind = time.dataset.ago;
    const text = words(seconds, kind === "span");
    const said = kind === "past" ? (root.dataset.ago ?? "{0}").replace("{0}", text) : text;
    if (time.textContent !== said) time.textContent = said;
  }
}

const language = root.lang || undefined;
const full = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// localise turns the moments below an element into local time.
export function localise(element) {
  for (const time of element.querySelectorAll?.("time[datetime]:not([data-local])") ?? []) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.dataset.local = "";
    if (time.hasAttribute("title")) time.title = full.format(moment);
    if (time.hasAttribute("data-moment")) time.textContent = full.format(moment);
    if (time.hasAttribute("data-clock")) time.textContent = clock.format(moment);
  }
}

document.addEventListener("htmx:load", (event) => localise(event.detail.elt));
setInterval(tick, 1000);
