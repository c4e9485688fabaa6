// Theme and density change at once; the server is told, and remembers.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const button = event.submitter;
  if (!form.matches("[data-look]") || !["theme", "density"].includes(button?.name)) return;
  event.preventDefault();
  const root = document.documentElement;
  if (button.value) root.dataset[button.name] = button.value;
  else delete root.dataset[button.name];
  for (const other of form.querySelectorAll(`button[name="${button.name}"]`)) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  const body = new URLSearchParams({ [button.name]: button.value });
  try {
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    // A redirect is how the server says "saved"; it shows as an opaque answer.
    if (answer.type !== "opaqueredirect" && !answer.ok) form.submit();
  } catch {
    // The look has changed here; that it is not remembered is no reason to stop anybody.
  }
});
