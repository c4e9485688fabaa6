// Choosing rows for what is done to several at once: how many there are, all of them, a range.
const boxes = () => [...document.querySelectorAll('[name="cluster"][form="bulk"]')];
let last; // the box that was changed last: a range starts there

function count() {
  const said = document.querySelector("[data-picked]");
  if (said) said.textContent = said.dataset.picked.replace("{0}", String(boxes().filter((b) => b.checked).length));
}

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-pick-all]")) {
    for (const box of boxes()) box.checked = true;
    count();
    return;
  }
  if (!event.target.matches?.('[name="cluster"][form="bulk"]')) return;
  const all = boxes();
  const [from, to] = [all.indexOf(last), all.indexOf(event.target)].sort((a, b) => a - b);
  if (event.shiftKey && from >= 0) for (const box of all.slice(from, to + 1)) box.checked = event.target.checked;
  last = event.target;
  count();
});

document.addEventListener("htmx:load", () => {
  document.querySelector("[data-pick-all]")?.removeAttribute("hidden");
  count();
});

// A row that comes anew stays chosen.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  for (const old of event.detail.target.querySelectorAll?.('[name="cluster"]') ?? []) {
    const next = event.detail.fragment.querySelector(`[name="cluster"][value="${CSS.escape(old.value)}"]`);
    if (next) next.checked = old.checked;
  }
});
