// What all pages do: show where one is in the menu, and copy texts.

const current = document.querySelector(".menu [aria-current]");
const strip = document.querySelector(".menu > ul");
if (current && strip.scrollWidth > strip.clientWidth) {
  strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}

const status = Object.assign(document.createElement("p"), {className: "unseen"});
status.setAttribute("role", "status");
document.body.append(status);

/** Tells a screen reader what nobody has to see. */
export function announce(words) {
  status.textContent = words;
}

addEventListener("click", async event => {
  const button = event.target.closest?.(".copy");
  if (!button) return;
  const text = button.parentElement.querySelector("code");
  const isCopied = await copy(text);
  button.textContent = isCopied ? "Copied" : "Selected";
  announce(isCopied ? "Copied" : "Selected, not copied");
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});

async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {  // only safe pages have a clipboard
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}
