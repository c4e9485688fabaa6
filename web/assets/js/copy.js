// Buttons that copy: an identifier, a command, or a whole log.
async function copied(button, text) {
  await navigator.clipboard.writeText(text);
  button.dataset.copied = "";
  const said = document.getElementById("said");
  if (said) said.textContent = button.dataset.done ?? "";
  setTimeout(() => { delete button.dataset.copied; }, 1200);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-log]");
  if (!button) return;
  if (button.dataset.copy !== undefined) {
    copied(button, button.dataset.copy);
    return;
  }
  const lines = document.getElementById(button.dataset.copyLog)?.children ?? [];
  copied(button, [...lines].map((line) => line.querySelector("span").textContent).join("\n"));
});
