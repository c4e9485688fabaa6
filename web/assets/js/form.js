// Forms: a preview that arrives while typing touches nothing that is being typed.

// A problem that came with a preview also marks its control.
document.addEventListener("htmx:oobAfterSwap", (event) => {
  const problem = event.target.closest?.("[data-problem-of]");
  if (!problem) return;
  const control = document.getElementById(problem.dataset.problemOf);
  if (problem.textContent.trim()) control?.setAttribute("aria-invalid", "true");
  else control?.removeAttribute("aria-invalid");
});

// Enter in a search for choices sends no form.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.("[data-find]")) event.preventDefault();
});

// What is folded and where it is scrolled to stays so.
let kept;
document.addEventListener("htmx:beforeSwap", (event) => {
  const target = event.detail.target;
  kept = target?.matches?.("[data-keep-scroll]")
    ? [...target.querySelectorAll("details")].map((d) => ({ open: d.open, at: d.querySelector("pre")?.scrollTop ?? 0 }))
    : undefined;
});
document.addEventListener("htmx:afterSwap", () => {
  if (!kept) return;
  document.querySelectorAll("[data-keep-scroll] details").forEach((d, i) => {
    if (!kept[i]) return;
    d.open = kept[i].open;
    const pre = d.querySelector("pre");
    if (pre) pre.scrollTop = kept[i].at;
  });
  kept = undefined;
});

// Blocks that were put together are a change of the form around them.
document.addEventListener("htmx:load", (event) => {
  if (event.detail.elt.matches?.("[data-builder]")) event.detail.elt.dispatchEvent(new Event("input", { bubbles: true }));
});
