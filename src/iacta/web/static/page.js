// What all pages do: switch colours, select numbers, and copy texts.

const MOST_FILE_BYTES = 900_000;
const PATIENCE = 2000; // milliseconds for a browser to copy
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

/** Calls `take` with the text and the name of each file that is chosen in an input or dropped on the page. */
export function takeFiles(input, take, refuse) {
  const open = async file => {
    if (!file) return;
    if (file.size > MOST_FILE_BYTES) refuse("The file is too large.");
    else take(textOf(await file.arrayBuffer()), file.name);
  };
  input.addEventListener("change", async () => {
    await open(input.files[0]);
    input.value = "";
  });
  addEventListener("dragover", event => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  addEventListener("drop", event => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    open(event.dataTransfer.files[0]);
  });
}

/** Returns the text of a file: in Unicode, or else in Latin letters of a byte each. */
function textOf(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  const wide = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(wide, {fatal: true}).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

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
