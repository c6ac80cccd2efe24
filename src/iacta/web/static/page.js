// What all pages do: show the current page in the menu, switch colours, and copy texts.

const PATIENCE = 2000; // milliseconds for a browser to copy
const current = document.querySelector(".menu [aria-current]");
const strip = document.querySelector(".menu > ul");
if (current && strip.scrollWidth > strip.clientWidth) {
  strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}

const status = Object.assign(document.createElement("p"), {className: "unseen"});
status.setAttribute("role", "status");
document.body.append(status);

/** Announces to a screen reader what nobody has to see. */
export function announce(words) {
  status.textContent = words;
}

document.querySelector(".theme").addEventListener("click", switchTheme);

addEventListener("click", async event => {
  const button = event.target.closest?.(".copy");
  if (!button) return;
  const text = button.parentElement.querySelector("code");
  const isCopied = await copied(text.textContent);
  if (!isCopied) getSelection().selectAllChildren(text);
  button.textContent = isCopied ? "Copied" : "Selected";
  announce(isCopied ? "Copied" : "Selected, not copied");
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});

// The click that brings the focus to a number selects it, once it has set its caret.
let focused = null; // what had the focus before the last press of the pointer
addEventListener("pointerdown", () => { focused = document.activeElement; }, {capture: true});
addEventListener("click", ({target}) => {
  if (target !== focused && target.matches?.("input:is([inputmode=numeric], [inputmode=decimal])")) target.select();
});

/** Copies a text, and returns whether it is copied. */
export async function copied(text) {
  // At once, while the click still counts, and on pages without a certificate too. The clipboard that
  // is a promise may keep it for ever, or refuse it where the window has lost the focus.
  let isSet = false;
  const set = event => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
    isSet = true;
  };
  document.addEventListener("copy", set, {once: true});
  const isDone = document.execCommand("copy");
  document.removeEventListener("copy", set);
  if (isDone && isSet) return true;
  const written = navigator.clipboard?.writeText(text).then(() => true, () => false);
  return Promise.race([written ?? false, new Promise(done => setTimeout(done, PATIENCE, false))]);
}
