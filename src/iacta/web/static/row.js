// A list of territories or fronts in one row. Each entry has an input and can be moved or removed.

import { announce } from "./page.js";
import { element, redraw } from "./redraw.js";

const ONE = /^[1-9]\d{0,2}(,\d{3})+,?$/; // a single number with separators, such as 8,200
const ENTRY = /^([^:@~]*)(?::([^@~]*))?(?:@([^~]*))?(?:~(.*))?$/;
const MARKS = [":", "@", "~"]; // the prefixes of rules, garrison and armies held back in an entry

/**
 * Replace a text input by a row of inputs. The text input becomes hidden, and its value is still
 * sent with the form. `changed` is called after each change.
 */
export function makeRow(input, rules, changed) {
  const word = input.name === "fronts" ? "Front" : "Territory";
  const field = input.closest(".field");
  const label = field.querySelector("label");
  const frame = element("div", {
    className: "row-edit",
    role: "group",
    ariaLabel: label.textContent,
  });
  frame.setAttribute("aria-describedby", input.getAttribute("aria-describedby"));
  label.replaceWith(element("span", { className: "label" }, label.textContent));
  const names =
    input.name === "territories" && rules ? [...rules.querySelectorAll("option[data-line]")] : [];
  field.querySelector(".help").hidden = names.length > 0; // the help explains the old marks
  Object.assign(input, { type: "hidden", required: false });
  input.parentElement.hidden = true;
  input.parentElement.after(frame);
  let texts = splitEntries(input.value).filter(Boolean);
  if (!texts.length) texts = [""];
  let current = 0;
  const chips = () => [...frame.querySelectorAll(".chip input")];

  function draw() {
    input.value = texts.filter(Boolean).join(" ");
    const tool = (words, title, disabled, onclick) =>
      element(
        "button",
        { type: "button", className: "tool", title, ariaLabel: title || words, disabled, onclick },
        words,
      );
    redraw(
      frame,
      element(
        "ol",
        { className: "chips" },
        texts.map((text, k) =>
          element(
            "li",
            { className: k === current ? "chip current" : "chip" },
            element("input", {
              type: "text",
              inputMode: word === "Front" ? "text" : "numeric",
              size: Math.max(2, Math.min(text.length, 14)),
              ariaLabel: `${word} ${k + 1}`,
              autocomplete: "off",
              autocapitalize: "off",
              spellcheck: false,
            }),
          ),
        ),
      ),
      element(
        "div",
        { className: "tools" },
        tool(`+ ${word}`, "", false, () => add(texts.length)),
        tool("←", "Earlier", current === 0, () => move(current - 1)),
        tool("→", "Later", current === texts.length - 1, () => move(current + 1)),
        tool("×", "Remove", texts.length === 1, () => remove(current)),
        !names.length &&
          element("span", { className: "which" }, `${word} ${current + 1} of ${texts.length}`),
      ),
      names.length > 0 && own(),
    );
    chips().forEach((chip, k) => {
      if (chip.value !== texts[k]) chip.value = texts[k];
    });
  }

  /** Return the inputs for the settings of the current territory. */
  function own() {
    const [, , rule = "", ...numbers] = ENTRY.exec(texts[current]) ?? [];
    const option = (value, name) =>
      element("option", { value, selected: value === rule.replaceAll(" ", "-") }, name);
    const number = (value) =>
      element("input", {
        type: "text",
        inputMode: "numeric",
        autocomplete: "off",
        size: 3,
        value: value ?? "",
      });
    return element(
      "details",
      { className: "own" },
      element("summary", {}, `Only for territory ${current + 1} of ${texts.length}`),
      element(
        "div",
        { className: "tools" },
        element(
          "label",
          {},
          "Rules",
          element(
            "select",
            {},
            option("", "as in the campaign"),
            names.map(({ textContent }) => option(textContent.replaceAll(" ", "-"), textContent)),
          ),
        ),
        element("label", {}, "Garrison", number(numbers[0])),
        element("label", {}, "Hold back", number(numbers[1])),
      ),
    );
  }

  function focus(index) {
    chips()[index].focus();
    chips()[index].select();
  }

  function add(index) {
    texts.splice(index, 0, "");
    current = index;
    draw();
    focus(index);
  }

  function remove(index) {
    texts.splice(index, 1);
    current = Math.min(index, texts.length - 1);
    draw();
    changed();
    announce(`Removed; ${texts.length} left`);
  }

  function move(to) {
    if (to < 0 || to >= texts.length) return;
    texts.splice(to, 0, ...texts.splice(current, 1));
    current = to;
    draw();
    changed();
    announce(`Moved to ${to + 1} of ${texts.length}`);
  }

  /** Change the text of the current entry; spaces and commas start new entries. */
  function type(text) {
    const parts = splitEntries(text);
    if (parts.length > 1) {
      texts.splice(current, 1, ...parts.filter(Boolean), ...(parts.at(-1) ? [] : [""]));
      current = Math.min(current + parts.length - 1, texts.length - 1);
      draw();
      focus(current);
    } else {
      texts[current] = text;
      draw();
    }
    if (text) changed();
  }

  function press(event, index) {
    const { key, target } = event;
    const last = texts.length - 1;
    const sideways = { ArrowLeft: -1, ArrowRight: 1 }[key];
    const isAtEnd =
      target.selectionStart === target.selectionEnd &&
      target.selectionStart === (sideways > 0 ? target.value.length : 0);
    const number = /^\d+/.exec(target.value)?.[0];
    const by = { ArrowUp: 1, ArrowDown: -1 }[key] * (event.shiftKey ? 10 : 1);
    if (event.altKey && sideways) {
      move(index + sideways);
      focus(current);
    } else if (by && number)
      type(Math.max(1, Number(number) + by) + target.value.slice(number.length));
    else if (key === "Enter" && index < last) focus(index + 1);
    else if (key === "Enter" && target.value) add(index + 1);
    else if (key === "Backspace" && !target.value && last) {
      remove(index);
      focus(Math.max(index - 1, 0));
    } else if (sideways && isAtEnd && index + sideways >= 0 && index + sideways <= last)
      focus(index + sideways);
    else if (key !== "Enter") return;
    event.preventDefault();
  }

  frame.addEventListener("focusin", ({ target }) => {
    if (!chips().includes(target)) return;
    current = chips().indexOf(target);
    draw();
  });
  frame.addEventListener("input", (event) => {
    event.stopPropagation();
    if (chips().includes(event.target)) return type(event.target.value);
    const values = [...frame.querySelectorAll(".own select, .own input")].map(({ value }) =>
      value.trim(),
    );
    type(
      texts[current].replace(/[:@~].*/, "") +
        values.map((value, k) => value && MARKS[k] + value).join(""),
    );
  });
  frame.addEventListener("change", (event) => {
    event.stopPropagation();
    changed();
  });
  frame.addEventListener("keydown", (event) => {
    const index = chips().indexOf(event.target);
    if (index >= 0) press(event, index);
  });
  draw();
}

/** Split a text at spaces and commas; an empty last entry means that the user is still typing. */
function splitEntries(text) {
  const found = text.split(/\s+/).flatMap((each) => each.split(ONE.test(each) ? /,$/ : ","));
  return found.filter((each, place) => each || place === found.length - 1);
}
