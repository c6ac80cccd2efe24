// Functions of all pages: switch colours, select numbers, copy texts, and open files.

const MOST_FILE_BYTES = 900_000;
const MOST_CHANGES = 60; // allowed changes of the URL within `SPAN`; some browsers refuse a hundred
const SPAN = 30_000; // in milliseconds
const LATER = 500;
const TURN = "iacta-turn";
let kept = null; // the code of the turn that was stored last
/** The elements of the page by id. */
export const on = Object.fromEntries(
  [...document.querySelectorAll("[id]")].map((each) => [each.id, each]),
);
const status = Object.assign(document.createElement("p"), { className: "unseen" });
status.setAttribute("role", "status");
document.body.append(status);

/** Announce to users of screen readers something that others can see. */
export function announce(words) {
  status.textContent = words;
}

document.querySelector(".theme").addEventListener("click", switchTheme);

/** Store the code of the turn on the board for the questions in the menu. */
export function keepTurn(code) {
  if (code === kept) return;
  kept = code;
  try {
    localStorage.setItem(TURN, code);
  } catch {
    // The storage is full or not allowed: the questions then start with their examples.
  }
}

function startFromBoard({ target }) {
  const link = target.closest("[data-turn]");
  if (!link) return;
  try {
    const code = localStorage.getItem(TURN);
    link.search = code ? new URLSearchParams({ code }) : "";
  } catch {
    // The browser does not allow storage.
  }
}
for (const name of ["click", "auxclick"]) on.menu.addEventListener(name, startFromBoard);

addEventListener("click", (event) => {
  const button = event.target.closest?.(".copy");
  if (!button) return;
  const code = button.parentElement.querySelector("code");
  copy(button, code.textContent, code);
});

/**
 * Copy a text and show on the button that it was copied. If that fails, select the text in `place`.
 */
export function copy(button, text, place) {
  button.dataset.words ??= button.textContent;
  const { words } = button.dataset;
  const isCopied = copied(text);
  if (!isCopied) getSelection().selectAllChildren(place);
  button.textContent = isCopied ? "Copied" : "Selected";
  announce(isCopied ? "Copied" : "Selected, not copied");
  setTimeout(() => {
    button.textContent = words;
    delete button.dataset.words;
  }, 1500);
  return isCopied;
}

// The first click on a number selects it; the second click moves the caret.
let tapped = null;
addEventListener("click", ({ target }) => {
  if (target !== tapped && target.matches?.("input:is([inputmode=numeric], [inputmode=decimal])")) {
    const { value } = target;
    target.select();
    setTimeout(() => {
      if (target.value === value) target.select();
    }); // a click on a selection only moves the caret now
  }
  tapped = target;
});
addEventListener("focusout", () => {
  tapped = null;
});

/**
 * Call `take` with the text and the name of each file that is chosen in an input or dropped on the
 * page.
 */
export function takeFiles(input, take, refuse) {
  const open = async (file) => {
    if (!file) return;
    if (file.size > MOST_FILE_BYTES) refuse("The file is too large.");
    else take(textOf(await file.arrayBuffer()), file.name);
  };
  input.addEventListener("change", async () => {
    await open(input.files[0]);
    input.value = "";
  });
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    open(event.dataTransfer.files[0]);
  });
}

/** Decode a file as Unicode, or else as Latin-1. */
function textOf(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  const wide =
    first === 0xff && second === 0xfe
      ? "utf-16le"
      : first === 0xfe && second === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    return new TextDecoder(wide, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

function copied(text) {
  // Copy at once, while the click still counts, and also on pages without HTTPS. The asynchronous
  // clipboard may never answer, or refuse when the window loses the focus.
  let isSet = false;
  const set = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
    isSet = true;
  };
  document.addEventListener("copy", set, { once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", set);
  return isSet;
}

/** The URL of the page, changed no more often than browsers allow. */
export class Address {
  #times = [];
  #later = 0;

  /** Change the URL; after too many changes, wait a little first. */
  write(text, { isNew = false } = {}) {
    this.leave();
    const now = Date.now();
    this.#times = this.#times.filter((time) => now - time < SPAN);
    if (this.#times.length >= MOST_CHANGES)
      this.#later = setTimeout(() => this.write(text, { isNew }), LATER);
    else if (new URL(text, location.href).href !== location.href) {
      this.#times.push(now);
      history[isNew ? "pushState" : "replaceState"](null, "", text);
    }
  }

  /** Cancel a change that is still waiting. */
  leave() {
    clearTimeout(this.#later);
  }
}
