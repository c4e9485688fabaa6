// A form with data-leave asks before what was typed into it is lost: by a link, by going back, or by
// closing the page. Sending the form asks nothing, and an answer that shows it again keeps the typing.
let typed = false;
let sending = false;
let returning = false; // to the page that somebody did not want to leave

const form = () => document.querySelector("form[data-leave]");
const stays = () => typed && !sending && form() && !confirm(form().dataset.leave);

document.addEventListener("input", (event) => {
  if (event.target.closest?.("form[data-leave]")) typed = true;
});

document.addEventListener("submit", (event) => {
  if (event.target === form()) sending = true;
}, true);

document.addEventListener("htmx:confirm", (event) => {
  const { elt, target } = event.detail;
  if (target?.id === "main" && !elt.closest("form[data-leave]") && stays()) event.preventDefault();
});

// The answer to the form is the form again, or leads away by another request.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id !== "main") return;
  const sent = event.detail.requestConfig?.verb === "post";
  typed = typed && sent && form() !== null;
  sending = false;
});
document.addEventListener("htmx:historyRestore", () => { typed = false; });
for (const failed of ["htmx:responseError", "htmx:sendError"]) document.addEventListener(failed, () => { sending = false; });

// Going back cannot be refused, only undone.
window.addEventListener("popstate", (event) => {
  if (!returning && !stays()) return;
  event.stopImmediatePropagation();
  returning = !returning;
  if (returning) history.forward();
}, true);

window.addEventListener("beforeunload", (event) => {
  if (typed && !sending && form()) event.preventDefault();
});
