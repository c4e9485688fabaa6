// The newest request wins: what was asked before it is not shown when its answer comes late.
//
// Of two requests that lead to an address, a link and the filter of a list say, only the newer one's
// answer may take the page and the address; likewise of two for one part of a page. And what a page has
// asked for is nothing to the page after it, whose parts may have the same names.
const pending = new Map(); // of requests by their XMLHttpRequest
const late = new WeakSet();

export const isLate = (xhr) => late.has(xhr);

function drop(which) {
  for (const [xhr, request] of pending) {
    if (!which(request)) continue;
    pending.delete(xhr);
    late.add(xhr);
    if (request.restores) xhr.abort();
  }
}

const says = (value) => value !== undefined && value !== null && value !== "false";

// On the window, after the document's listener has settled what is done with the answer.
window.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target, xhr, etc } = event.detail;
  const leads = target.id === "main" || says(etc.push) || says(etc.replace);
  if (elt.dataset?.fresh !== undefined && [...pending.values()].some((request) => request.leads)) {
    event.preventDefault(); // what is on its way is as fresh, and of another address perhaps
    return;
  }
  drop((request) => request.target === target || leads && request.leads);
  pending.set(xhr, { target, leads, inside: elt.closest("#main") !== null });
  // A live update may have taken the element out of the page: nothing rises from there.
  const answered = (answer) => {
    if (answer.detail.xhr === xhr && isLate(xhr)) answer.preventDefault();
  };
  elt.addEventListener("htmx:beforeOnLoad", answered);
  xhr.addEventListener("loadend", () => {
    pending.delete(xhr);
    elt.removeEventListener("htmx:beforeOnLoad", answered);
  });
});

document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target?.id === "main" && event.detail.shouldSwap) drop((request) => request.inside);
});

// Going back and forth is a request as well, which has no answer to hold back but can be called off.
window.addEventListener("popstate", () => drop((request) => request.leads || request.inside));
document.addEventListener("htmx:historyCacheMiss", ({ detail: { xhr } }) => {
  pending.set(xhr, { leads: true, restores: true });
  xhr.addEventListener("loadend", () => pending.delete(xhr));
});
