// Functions for all pages: switch colours, select numbers, copy texts, and open files.

const MAX_FILE_BYTES = 900_000;
const MAX_CHANGES = 60; // the maximum number of URL changes in `SPAN`; some browsers refuse 100
const SPAN = 30_000; // in milliseconds
const LATER = 500;
const TURN = "iacta-turn";
let kept = null; // the last stored code
/** The elements of the page by id. */
export const on = Object.fromEntries(
  [...document.querySelectorAll("[id]")].map((each) => [each.id, each]),
);
/** Show an error, or a sentence about it, beside what the user does. */
export function showError(error) {
  on.wrong.textContent = error.message ?? error;
}

const status = Object.assign(document.createElement("p"), { className: "unseen" });
status.setAttribute("role", "status");
document.body.append(status);

/** Announce a message to users of screen readers. */
export function announce(words) {
  status.textContent = words;
}

for (const each of document.querySelectorAll(".theme")) each.addEventListener("click", switchTheme);

/** Store the code of the turn on the board page, for links to questions in the menu. */
export function keepTurn(code) {
  if (code === kept) return;
  kept = code;
  try {
    localStorage.setItem(TURN, code);
  } catch {
    // The storage is full or forbidden. The questions then start with their examples.
  }
}

function startFromBoard({ target }) {
  const link = target.closest("[data-turn]");
  if (!link) return;
  try {
    const code = localStorage.getItem(TURN);
    link.search = code ? new URLSearchParams({ code }) : "";
  } catch {
    // The browser forbids storage.
  }
}
for (const name of ["click", "auxclick"]) on.menu.addEventListener(name, startFromBoard);

addEventListener("click", (event) => {
  if (event.target.closest?.(".print")) print();
  const button = event.target.closest?.(".copy");
  if (!button) return;
  const code = button.parentElement.querySelector("code");
  copy(button, code.textContent, code);
});

/**
 * Copy a text and confirm it on the button. If the browser refuses, select the text in `place`.
 */
export function copy(button, text, place) {
  button.dataset.words ??= button.textContent;
  const { words } = button.dataset;
  const isCopied = copyNow(text);
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
    }); // after this handler, the browser may move the caret
  }
  tapped = target;
});
addEventListener("focusout", () => {
  tapped = null;
});

/**
 * Call `take` with the text and the name of each file that the user selects; call `refuse` for a
 * file that is too large. Return a function that opens a file in the same way.
 */
export function takeSelectedFiles(input, take, refuse) {
  const open = async (file) => {
    if (!file) return;
    if (file.size > MAX_FILE_BYTES) refuse("The file is too large.");
    else take(decodeFile(await file.arrayBuffer()), file.name);
  };
  input.addEventListener("change", async () => {
    await open(input.files[0]);
    input.value = "";
  });
  return open;
}

/** The same as `takeSelectedFiles`, also for files that the user drops on the page. */
export function takeFiles(input, take, refuse) {
  const open = takeSelectedFiles(input, take, refuse);
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

/** Decode a file as UTF-16 or UTF-8, with Latin-1 as the fallback. */
function decodeFile(bytes) {
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

function copyNow(text) {
  // `execCommand` is synchronous, as required during a click, and works without HTTPS. The
  // asynchronous clipboard may never answer, or fail when the window loses the focus.
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

/** The URL of the page, with a rate limit for changes. */
export class Address {
  #times = [];
  #later = 0;

  /** Change the URL; delay the change after too many changes. */
  write(text, { isNew = false } = {}) {
    this.cancel();
    const now = Date.now();
    this.#times = this.#times.filter((time) => now - time < SPAN);
    if (this.#times.length >= MAX_CHANGES)
      this.#later = setTimeout(() => this.write(text, { isNew }), LATER);
    else if (new URL(text, location.href).href !== location.href) {
      this.#times.push(now);
      history[isNew ? "pushState" : "replaceState"](null, "", text);
    }
  }

  /** Cancel a delayed change. */
  cancel() {
    clearTimeout(this.#later);
  }
}
