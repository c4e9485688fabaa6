// The keyboard: "g" and a letter goes somewhere, "c" creates, "/" filters, "?" lists the keys.
const wait = 1000; // milliseconds in which the letter after "g" has to come
let going = 0;

const typing = (element) => element?.closest?.("input, textarea, select, [contenteditable]");
const press = (selector) => {
  const element = document.querySelector(selector);
  element?.click();
  return Boolean(element);
};

function help() {
  document.getElementById("person")?.hidePopover();
  document.getElementById("keys")?.showModal();
}

// Keys need scripts, and so does the way to their list.
for (const button of document.querySelectorAll("[data-keys]")) {
  button.hidden = false;
  button.addEventListener("click", help);
}

function handle(key) {
  if (performance.now() < going) {
    going = 0;
    return press(`[data-go="${CSS.escape(key)}"]`);
  }
  switch (key) {
    case "g":
      going = performance.now() + wait;
      return true;
    case "c":
      return press("[data-create]");
    case "/": {
      const filter = document.querySelector("[data-filter]");
      filter?.focus();
      filter?.select();
      return Boolean(filter);
    }
    case "?":
      help();
      return true;
    default:
      return false;
  }
}

// letter is what the key says in a Latin layout: people do not switch theirs for a shortcut. In the
// Russian one the key of the slash types a full stop, and with Shift a comma.
function letter({ key, code }) {
  if (code === "Slash" && (key === "." || key === ",")) return key === "." ? "/" : "?";
  return key > "\x7f" && code.startsWith("Key") ? code.slice(3).toLowerCase() : key;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.composedPath()[0])) return;
  if (document.querySelector("dialog[open]")) return;
  if (handle(letter(event))) event.preventDefault();
});
