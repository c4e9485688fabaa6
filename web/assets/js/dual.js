// Dual lists: a choice that is ticked moves to the other list, all of a list move at once, and the
// arrows walk through a list. Without this file the choices are checkboxes that move when the form
// is drawn again.

const boxes = (list) => [...list.querySelectorAll("li:not([hidden]) input[type=checkbox]")];

// One choice of each list is a stop of the Tab key.
function arrange(dual) {
  for (const list of dual.querySelectorAll("[data-side]")) {
    const all = boxes(list);
    const stop = all.find((b) => b.tabIndex === 0 && !b.disabled) ?? all.find((b) => !b.disabled);
    for (const b of all) b.tabIndex = b === stop ? 0 : -1;
    const count = list.closest(".half").querySelector("[data-count]");
    if (count) count.textContent = list.children.length.toLocaleString(document.documentElement.lang);
  }
}

function move(dual, box) {
  const to = dual.querySelector(`[data-side=${box.checked ? "on" : "off"}]`);
  const item = box.closest("li");
  if (item.parentElement === to) return;
  item.hidden = false;
  to.append(item);
}

function walk(box, step) {
  const all = boxes(box.closest("[data-side]")).filter((b) => !b.disabled);
  focus(all[all.indexOf(box) + step]);
}

function focus(box) {
  if (!box) return;
  for (const other of boxes(box.closest("[data-side]"))) other.tabIndex = other === box ? 0 : -1;
  box.focus();
}

function moveAll(dual, side) {
  const from = dual.querySelector(`[data-side=${side === "on" ? "off" : "on"}]`);
  for (const box of boxes(from)) {
    if (box.disabled) continue;
    box.checked = side === "on";
    move(dual, box);
  }
  arrange(dual);
  dual.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("change", (event) => {
  const dual = event.target.closest?.("[data-dual]");
  if (!dual || event.target.type !== "checkbox") return;
  // The keyboard goes on with the next choice of the list that this one leaves.
  const all = boxes(event.target.closest("[data-side]")).filter((b) => !b.disabled);
  const at = all.indexOf(event.target);
  const next = document.activeElement === event.target ? all[at + 1] ?? all[at - 1] : undefined;
  move(dual, event.target);
  arrange(dual);
  focus(next);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-dual] [data-all]");
  if (button) moveAll(button.closest("[data-dual]"), button.dataset.all);
});

document.addEventListener("keydown", (event) => {
  const dual = event.target.closest?.("[data-dual]");
  if (!dual) return;
  if (event.target.matches("[data-dual-filter]")) {
    if (event.key === "Enter") event.preventDefault();
    return;
  }
  const list = event.target.closest("[data-side]");
  if (!list) return;
  const other = { ArrowLeft: "off", ArrowRight: "on" }[event.key];
  if (event.key === "ArrowDown") walk(event.target, 1);
  else if (event.key === "ArrowUp") walk(event.target, -1);
  else if (other) focus(boxes(dual.querySelector(`[data-side=${other}]`)).find((b) => !b.disabled));
  else if (event.key === "a" && (event.ctrlKey || event.metaKey)) moveAll(dual, list.dataset.half === "off" ? "on" : "off");
  else return;
  event.preventDefault();
});

// What is typed to find a choice is no part of the form.
document.addEventListener("input", (event) => {
  if (!event.target.matches?.("[data-dual-filter]")) return;
  event.stopPropagation();
  const dual = event.target.closest("[data-dual]");
  const wanted = event.target.value.trim().toLocaleLowerCase();
  for (const item of dual.querySelectorAll("[data-side=off] li")) item.hidden = !item.textContent.toLocaleLowerCase().includes(wanted);
  arrange(dual);
}, true);

const arrangeAll = () => document.querySelectorAll("[data-dual]").forEach(arrange);
document.addEventListener("htmx:load", arrangeAll);
arrangeAll();
